#pragma once

#include <Eigen/Core>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// A rule for means over the unit sphere of R^n: points are the columns, weights sum to one.
struct SphereRule {
  Eigen::MatrixXd points;
  Eigen::VectorXd weights;
};

/// 2 for n = 1, else 2 m^{n-1}: may overflow, hence a double.
[[nodiscard]] double sphere_rule_size(index_t n, index_t m);

/// Exact for polynomials of degree 2m - 1: the trapezoidal rule on the circle, and Gauss's rule for the
/// weight (1 - x^2)^{(n-3)/2} of a coordinate x where a dimension is added.
[[nodiscard]] SphereRule sphere_rule(index_t n, index_t m);

}  // namespace fenchel::detail
