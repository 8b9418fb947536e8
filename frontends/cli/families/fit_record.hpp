#pragma once

#include <Eigen/Core>

#include "cli/commands/to_record.hpp"
#include "cli/families/family.hpp"
#include "cli/tables/record.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/estimate/fit/fit.hpp"

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

}  // namespace fenchel::cli
