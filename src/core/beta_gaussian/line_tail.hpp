#pragma once

#include <cmath>
#include <numbers>

#include "core/beta_gaussian/closed_line.hpp"
#include "core/beta_gaussian/general_line.hpp"
#include "core/hd_long.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// Tails of beta-Gaussians on the line at x = (t - mu) / sigma >= 0 (docs/math.md 5.6): I_{1 - x^2/R^2}(1 +
/// s, 1/2) / 2, s = 1/am1, R^2 = radius2, for alpha > 1; Student's t with nu = -2/am1 - 1 degrees of freedom
/// for alpha < 1. One incomplete beta function, which keeps its digits as alpha -> 1, serves all of them; of
/// a tail the error is its kOutsideError (1 + |log|) relative.
namespace fenchel::detail {

/// P(X > x) for x >= 0, X standardised.
FENCHEL_HD_LONG inline double line_tail(const BetaGaussianConstants& c, double x) noexcept {
  if (c.am1 == 0) return std::erfc(x * (std::numbers::sqrt2 / 2)) / 2;
  if (std::isinf(c.am1)) return x < std::sqrt(c.radius2) ? (1 - x / std::sqrt(c.radius2)) / 2 : 0;
  const GeneralLine line = general_line(c, 0, 1);
  return outside(line.law, unit_point(line, x / line.width)) / 2;
}

/// Its logarithm. The Gaussian is to rounding the law of so large a shape.
FENCHEL_HD inline double log_line_tail(const BetaGaussianConstants& c, double x) noexcept {
  constexpr double kGaussianShape = 0x1p60;
  if (std::isinf(c.am1)) return std::log(line_tail(c, x));
  const GeneralLine line =
      c.am1 == 0 ? GeneralLine{central_beta(kGaussianShape), false, 0, 0, std::sqrt(2 * kGaussianShape)}
                 : general_line(c, 0, 1);
  return log_outside(line.law, unit_point(line, x / line.width)) - std::numbers::ln2;
}

/// The x >= 0 with P(X > x) = u, for u in [0, 1/2].
FENCHEL_HD_LONG inline double line_tail_quantile(const BetaGaussianConstants& c, double u) noexcept {
  if (c.am1 == 0) return -quantile_element<ClosedLine::kGaussian>(u);
  if (std::isinf(c.am1)) return std::sqrt(c.radius2) * (1 - 2 * u);
  const GeneralLine line = general_line(c, 0, 1);
  return line.width * upper_tail_distance(line, u);
}

}  // namespace fenchel::detail
