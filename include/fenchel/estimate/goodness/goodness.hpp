#pragma once

/// `goodness`: how good a fit is, with warnings in words.

#include <string>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/goodness/fit_scores.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"

namespace fenchel {

/// How far data is from a distribution; NaN in R^N.
struct Distances {
  double kolmogorov_smirnov, anderson_darling;
};

/// How good a fit is: what one pass over its data says. A row of weight w counts as w rows.
struct Goodness {
  double weight;                 ///< of all rows
  double outside;                ///< of those outside of the support of the fit
  double log_likelihood;         ///< -inf where a row is outside
  double log_likelihood_inside;  ///< of the rows inside
  double aic, bic;               ///< 2 k - 2 log L and k log(weight) - 2 log L, k parameters estimated
  double loss;                   ///< the mean cross-Omega loss, which alphas do not share
  double crps;                   ///< the mean continuous ranked probability score, which they do; NaN in R^N
  Distances distances;
  std::vector<std::string> warnings;
};

namespace detail {

/// What warnings need to know of a fit.
struct FitSummary {
  std::vector<std::string> names;
  Eigen::VectorXd parameters, standard_errors;
  double loss;
  index_t columns;
  std::string support;  ///< "[0, 2]"; empty where it is all of the domain
};
[[nodiscard]] FENCHEL_EXPORT std::string interval_text(double lower, double upper);
/// An end of index_t is none.
[[nodiscard]] FENCHEL_EXPORT std::string interval_text(index_t first, index_t last);

template <class P>
[[nodiscard]] FitSummary summary(const P& p, std::vector<std::string> names, Eigen::VectorXd parameters,
                                 Eigen::VectorXd standard_errors, double loss) {
  FitSummary of{std::move(names), std::move(parameters), std::move(standard_errors), loss, 1, ""};
  if constexpr (TabulatedIntegers<P>) {
    of.support = interval_text(support(p).first, support(p).last);
  } else if constexpr (LineDistribution<P>) {
    const std::vector<Interval> parts = pieces(support(p));
    of.support = interval_text(parts.front().lower(), parts.back().upper());
  } else {
    of.columns = p.dimension();
  }
  return of;
}
template <class P>
[[nodiscard]] FitSummary summary(const Fit<P>& fit) {
  return summary(fit.distribution, fit.names, fit.parameters, fit.standard_errors(), fit.loss);
}

[[nodiscard]] FENCHEL_EXPORT Goodness goodness_of(const FitSummary& fit, const FitScores& scores,
                                                  const Distances& distances);
/// On the integers: sup |F_n - F|, and W sum_k (F_n - F)^2 p / (F (1 - F)) [V. Choulakian, R. Lockhart, M.
/// Stephens, Canad. J. Statist. 22 (1994)].
[[nodiscard]] FENCHEL_EXPORT Distances count_distances(const IntegerTable& p, const CountHistogram& counts);

/// Of a density on the line or in R^N in one pass, on the integers from their histogram.
template <class P>
[[nodiscard]] Goodness goodness_of(const P& p, const FitSummary& fit, const Data& data) {
  const FitScores scores = collect(data, FitScores(row_scorer(p), data.source.columns()));
  const ProbabilityCells& cells = scores.probabilities();
  return goodness_of(fit, scores, {cells.kolmogorov_smirnov(), cells.anderson_darling()});
}
template <TabulatedIntegers P>
[[nodiscard]] Goodness goodness_of(const P& p, const FitSummary& fit, const CountHistogram& counts) {
  FitScores scores(row_scorer(p), 1);
  const std::vector<index_t> values = counts.values();
  const std::vector<double> rows(values.begin(), values.end()), weights = counts.weights();
  scores.update({rows.data(), static_cast<index_t>(rows.size()), 1}, weights);
  return goodness_of(fit, scores, count_distances(p.table(), counts));
}
template <TabulatedIntegers P>
[[nodiscard]] Goodness goodness_of(const P& p, const FitSummary& fit, const Data& data) {
  return goodness_of(p, fit, collect(data, CountHistogram()));
}

}  // namespace detail

/// In one pass over the data, which need not be what it was fitted to. Throws as collect does.
template <class P>
[[nodiscard]] Goodness goodness(const Fit<P>& fit, const Data& data) {
  return detail::goodness_of(fit.distribution, detail::summary(fit), data);
}
/// Of a distribution on the integers.
template <TabulatedIntegers P>
[[nodiscard]] Goodness goodness(const Fit<P>& fit, const CountHistogram& counts) {
  return detail::goodness_of(fit.distribution, detail::summary(fit), counts);
}

}  // namespace fenchel
