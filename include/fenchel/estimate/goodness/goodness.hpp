#pragma once

/// `goodness`: how good a fit is, with warnings in words.

#include <concepts>
#include <span>
#include <string>
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

template <class P>
[[nodiscard]] FitSummary summary(const Fit<P>& fit) {
  const P& p = fit.distribution;
  FitSummary of{fit.names, fit.parameters, fit.standard_errors(), fit.loss, 1, ""};
  if constexpr (TabulatedIntegers<P>) {
    of.support = interval_text(static_cast<double>(support(p).first), static_cast<double>(support(p).last));
  } else if constexpr (LineDistribution<P>) {
    const std::vector<Interval> parts = pieces(support(p));
    of.support = interval_text(parts.front().lower(), parts.back().upper());
  } else {
    of.columns = p.dimension();
  }
  return of;
}

[[nodiscard]] FENCHEL_EXPORT Goodness goodness_of(const FitSummary& fit, const FitScores& scores,
                                                  const Distances& distances);
/// On the integers: sup |F_n - F|, and W sum_k (F_n - F)^2 p / (F (1 - F)) [V. Choulakian, R. Lockhart, M.
/// Stephens, Canad. J. Statist. 22 (1994)].
[[nodiscard]] FENCHEL_EXPORT Distances count_distances(const IntegerTable& p, const CountHistogram& counts);

}  // namespace detail

/// Of a density on the line or in R^N in one pass over the data, which need not be what it was fitted to.
/// Throws as collect does.
template <class P>
[[nodiscard]] Goodness goodness(const Fit<P>& fit, const Data& data) {
  const FitScores scores = collect(data, FitScores(row_scorer(fit.distribution), data.source.columns()));
  const ProbabilityCells& cells = scores.probabilities();
  return detail::goodness_of(detail::summary(fit), scores,
                             {cells.kolmogorov_smirnov(), cells.anderson_darling()});
}

/// Of a distribution on the integers.
template <TabulatedIntegers P>
[[nodiscard]] Goodness goodness(const Fit<P>& fit, const CountHistogram& counts) {
  FitScores scores(row_scorer(fit.distribution), 1);
  const std::vector<index_t> values = counts.values();
  const std::vector<double> rows(values.begin(), values.end()), weights = counts.weights();
  scores.update({rows.data(), static_cast<index_t>(rows.size()), 1}, weights);
  return detail::goodness_of(detail::summary(fit), scores,
                             detail::count_distances(fit.distribution.table(), counts));
}
template <TabulatedIntegers P>
[[nodiscard]] Goodness goodness(const Fit<P>& fit, const Data& data) {
  return goodness(fit, collect(data, CountHistogram()));
}

}  // namespace fenchel
