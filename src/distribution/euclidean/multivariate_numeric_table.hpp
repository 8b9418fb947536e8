#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "distribution/euclidean/level_cubature.hpp"
#include "distribution/euclidean/level_region.hpp"
#include "fenchel/distribution/euclidean/multivariate_numeric_density.hpp"
#include "fenchel/domain/box.hpp"

namespace fenchel {

struct MultivariateNumericDensity::Table {
  detail::LevelRegion region;
  /// In a stretched frame, where the support has no end that matters, what has the larger part of the tails.
  std::optional<detail::LevelRegion> nearer;
  Box bounds;                                 ///< of the support
  std::function<double(double)> log_density;  ///< of g, less log_mass
  double exponent;                            ///< of the density at an edge of the support
  double accuracy;
  std::vector<Eigen::VectorXd> modes;
  detail::AxisSum first{};  ///< the marginal density of the first coordinate of the frame

  /// The integral of p^power times each row of f(t).
  [[nodiscard]] detail::AxisSum integrate(double power, detail::LevelCubature::Integrand f, double to) const;
  /// Whether it exists: whether what is farther has less than 1e-4 of the integral of the absolute value.
  [[nodiscard]] bool is_finite(double power, detail::LevelCubature::Integrand f) const;
};

namespace detail {

/// Takes the mass off `log_density`, and makes `first`. Throws ConvergenceError unless the mass is known to
/// `accuracy`, by this rule and by one with the axes in another order.
[[nodiscard]] MultivariateNumericDensity make_density(MultivariateNumericDensity::Table table,
                                                      const char* where);

}  // namespace detail
}  // namespace fenchel
