#pragma once

#include <cmath>

#include "backend/attention/space_contour.hpp"
#include "backend/attention/space_density.hpp"

/// The minimum zeta0 of the exponent Phi of a contour (space_contour.hpp), found by Newton's iteration from
/// below, where it goes up and never past it: Phi' is concave. What there is one of is for a back end to hold
/// in lanes or in a thread; here is what each coordinate adds to it, and what follows from it.
namespace fenchel::detail {

/// Where the iteration begins. Where n (1 - sum e2 / n) cancels, for narrow functions near the edge of the
/// support, it is a product, `linear`, and the terms of the coordinates are less what it has of them: `near`
/// is 1 there and 0 elsewhere, a number since lanes select by numbers.
struct SaddleStart {
  double zeta, linear, near;
};
FENCHEL_INLINE SaddleStart saddle_start(double n, double size2, double widest) noexcept {
  const double r2 = size2 / n, r = std::sqrt(r2), q = (1 - r) * (1 + r);
  const double near = n < kManySeries && r < 2 ? 1.0 : 0.0;
  const double outside = (r - 1) / widest, inside = 2 / (q + std::sqrt(q * q + 8 * r2 * widest));
  const double start = outside > inside ? outside : inside;
  return {start > 1 ? start : 1.0, near != 0 ? n * q : n, near};
}

/// What a coordinate takes from Phi' and adds to Phi''.
struct SaddleSlopes {
  double first, second;
};
FENCHEL_INLINE SaddleSlopes saddle_slopes(double zeta, double v, double e2, double near) noexcept {
  const double y = zeta * v, c = 1 / (1 + y), cv = c * v, e = e2 * c * c;
  return {0.5 * cv + e * (near != 0 ? -y * (2 + y) : 1.0), cv * cv / 2 + 2 * e * cv};
}
/// Steps below this part of zeta are the last: what is left after it is its square.
inline constexpr double kLastSaddleStep = 1e-9;

/// A coordinate at the saddle, y = v zeta0: what it adds to the logarithm of the integrand but for the
/// determinant, and to the derivatives of the exponent by zeta / zeta0, the second and minus the third.
struct SaddleTerm {
  double y, c, share, e;  ///< c = 1 / (1 + y), share = y c, e = e2 zeta0 c
  double log_value, second, third;
};
FENCHEL_INLINE SaddleTerm saddle_term(double zeta, double v, double e2, double near) noexcept {
  const double y = zeta * v, c = 1 / (1 + y), yc = y * c, e = e2 * zeta * c;
  return {
      y, c, yc, e, near != 0 ? e * y : -e, yc * yc / 2 + 2 * e * c * yc, yc * yc * yc + 6 * e * c * yc * yc};
}

/// The logarithm of the integrand at the saddle without the terms of the coordinates, h0 = zeta0 - 1 -
/// log(zeta0).
FENCHEL_INLINE double saddle_log_value(const SpaceDensity& p, const SaddleStart& at, double log_zeta,
                                       double h0) noexcept {
  return p.log_factor + log_zeta + (at.near != 0 ? at.linear * at.zeta - p.n - p.n * log_zeta : p.n * h0);
}

/// The curve's B, that in standard deviations of the integrand, and the square of 1 / step.
struct ContourScale {
  double width, in_gaussian, inverse_step2;
};
FENCHEL_INLINE ContourScale contour_scale(const ContourRule& rule, double second, double third) noexcept {
  const double width = kContourSlope * 3 * second / third, in_gaussian = width * std::sqrt(second);
  const double gaussian = in_gaussian / rule.gaussian_step, pole = width / rule.pole_step;
  const double most = 1 / rule.largest_step;
  return {width, in_gaussian, most * most + gaussian * gaussian + pole * pole};
}
/// The logarithm of how far sums with steps h and 2h are apart for a Gaussian, but for a factor of 8.
FENCHEL_INLINE double gaussian_disagreement(double step, double in_gaussian) noexcept {
  const double per_step = 1 / (step * in_gaussian);
  return -kHalfPi2 * per_step * per_step;
}

}  // namespace fenchel::detail
