#pragma once

#include <cmath>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"

/// How the radius r = sqrt(q) of a beta-Gaussian moves with its parameters, at a fixed probability of the
/// ball.
namespace fenchel::detail {

/// d log r / dalpha at r^2 = q, by quadrature; NaN off the support, 0 for infinite alpha.
[[nodiscard]] FENCHEL_EXPORT double log_radius_alpha_slope(const BetaGaussianConstants& c, double q);

/// r is proportional to |Sigma|^{-c/2}, c = am1 / (2 + n am1).
[[nodiscard]] FENCHEL_HD inline double determinant_exponent(const BetaGaussianConstants& c) noexcept {
  const auto n = static_cast<double>(c.dimension);
  return std::isinf(c.am1) ? 1 / n : c.am1 / (2 + n * c.am1);
}

}  // namespace fenchel::detail
