#pragma once

#include <Eigen/Core>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "cli/commands/to_record.hpp"
#include "cli/families/family.hpp"
#include "cli/tables/record.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/goodness/bootstrap.hpp"
#include "fenchel/estimate/goodness/compare.hpp"
#include "fenchel/estimate/goodness/goodness.hpp"

namespace fenchel::cli {

/// What was fitted, its parameters with those of the shape that were given first.
template <class P>
[[nodiscard]] Record fitted(const FamilyOptions& shape, const Fit<P>& fit) {
  Record parameters = Record::object(), errors = Record::object();
  if (shape.alpha) parameters["alpha"] = number(*shape.alpha);
  if (shape.gamma) parameters["gamma"] = *shape.gamma;
  if (shape.kappa) parameters["kappa"] = *shape.kappa;
  const Eigen::VectorXd spread = fit.standard_errors();
  for (std::size_t k = 0; k < fit.names.size(); ++k) {
    parameters[fit.names[k]] = number(fit.parameters[static_cast<index_t>(k)]);
    errors[fit.names[k]] = number(spread[static_cast<index_t>(k)]);
  }
  const P& p = fit.distribution;
  return {{"parameters", parameters},         {"standard_errors", errors},
          {"weight", number(fit.weight)},     {"loss", number(fit.loss)},
          {"support", to_record(support(p))}, {"mean", number(mean(p))},
          {"variance", number(variance(p))}};
}

/// Of the entries that Fit has in one list: alpha where it was estimated, mu, the lower triangle of Sigma.
[[nodiscard]] inline Record fitted(const FamilyOptions& shape, const Fit<MultivariateBetaGaussian>& fit) {
  const MultivariateBetaGaussian& p = fit.distribution;
  const index_t n = p.dimension(), first = shape.alpha ? 0 : 1;
  const Eigen::VectorXd spread = fit.standard_errors();
  Eigen::MatrixXd of_sigma(n, n);
  for (index_t i = 0, k = first + n; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j, ++k) of_sigma(i, j) = of_sigma(j, i) = spread[k];
  }
  Record parameters = Record::object(), errors = Record::object();
  parameters["alpha"] = number(p.alpha());
  if (!shape.alpha) errors["alpha"] = number(spread[0]);
  parameters["mu"] = to_record(p.mu());
  errors["mu"] = to_record(Eigen::VectorXd(spread.segment(first, n)));
  parameters["Sigma"] = to_record(p.Sigma());
  errors["Sigma"] = to_record(of_sigma);
  return {{"parameters", parameters},
          {"standard_errors", errors},
          {"weight", number(fit.weight)},
          {"loss", number(fit.loss)},
          {"support", to_record(support(p))},
          {"mean", to_record(mean(p))},
          {"covariance", to_record(covariance(p))}};
}

/// "mu": [lower, upper], for each parameter that was estimated.
[[nodiscard]] inline Record to_record(const std::vector<std::string>& names,
                                      const ConfidenceIntervals& intervals) {
  Record record = Record::object();
  for (std::size_t k = 0; k < names.size(); ++k) {
    const auto i = static_cast<index_t>(k);
    record[names[k]] = {number(intervals.lower[i]), number(intervals.upper[i])};
  }
  return record;
}

/// The intervals at this level, and the p-values where draws are fitted again.
template <class P, class Refit>
void answer(Record& record, const FitQuestions& questions, const Fit<P>& fit, const Distances& distances,
            const Data& data, const Refit& refit) {
  constexpr double kUsualLevel = 0.95;
  const double level = questions.level.value_or(kUsualLevel);
  if (questions.bootstrap > 0) {
    if constexpr (LineDistribution<P> || TabulatedIntegers<P>) {
      const Bootstrap found =
          bootstrap(fit, distances, refit,
                    {.replicates = questions.bootstrap, .seed = questions.seed, .progress = data.progress});
      record["p_values"] = {{"kolmogorov_smirnov", number(found.p_values.kolmogorov_smirnov)},
                            {"anderson_darling", number(found.p_values.anderson_darling)}};
      record["bootstrap"] = {{"replicates", questions.bootstrap}, {"failed", found.failed}};
      record["intervals"] = {{"level", level}, {"method", "bootstrap"}};
      record["intervals"].update(to_record(fit.names, percentile_intervals(found, level)));
      return;
    } else {
      throw UsageError("--bootstrap: needs a family of one column");
    }
  }
  if (!questions.level) return;
  record["intervals"] = {{"level", level}, {"method", "wald"}};
  record["intervals"].update(to_record(fit.names, wald_intervals(fit, level)));
}

/// How good a fit is.
inline void add_goodness(Record& record, const Goodness& found) {
  record["log_likelihood"] = number(found.log_likelihood);
  if (found.outside > 0) record["log_likelihood_inside"] = number(found.log_likelihood_inside);
  record["aic"] = number(found.aic);
  record["bic"] = number(found.bic);
  record["outside"] = number(found.outside);
  if (std::isnan(found.crps)) return;
  record["crps"] = number(found.crps);
  record["kolmogorov_smirnov"] = number(found.distances.kolmogorov_smirnov);
  record["anderson_darling"] = number(found.distances.anderson_darling);
}

/// The fits to groups, each with the number of its group, or with the reason why there is none.
template <class Group>
[[nodiscard]] Record fitted_groups(const FamilyOptions& shape, const std::vector<Group>& groups) {
  Record records = Record::array();
  for (const Group& of : groups) {
    Record record = {{"group", number(of.group)}};
    if (of.fit) {
      record.update(fitted(shape, *of.fit));
      add_goodness(record, of.goodness);
      record["warnings"] = of.goodness.warnings;
    } else {
      record["weight"] = number(of.weight);
      record["failure"] = of.failure;
    }
    records.push_back(std::move(record));
  }
  return records;
}

/// What `of_statistics` makes of the data, how good it is, and what was asked besides.
template <class F>
[[nodiscard]] Record fitted(const FamilyOptions& shape, const Data& data, const FitQuestions& questions,
                            const F& of_statistics) {
  const auto refit = [&of_statistics](const Data& of) { return fit_to_data(of_statistics, of); };
  const auto fit = refit(data);
  Record record = fitted(shape, fit);
  const Goodness found = goodness(fit, data);
  add_goodness(record, found);
  answer(record, questions, fit, found.distances, data, refit);
  record["warnings"] = found.warnings;
  return record;
}

}  // namespace fenchel::cli
