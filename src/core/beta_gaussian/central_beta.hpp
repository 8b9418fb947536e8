#pragma once

#include <cmath>
#include <numbers>

#include "core/beta_gaussian/closed_line.hpp"
#include "core/hd_long.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/gamma_ratio.hpp"

/// The beta law of shapes 1/2 and a, which is that of y = q / radius2 on the line for alpha > 1, with a = 1 +
/// 1/am1, and of q / (q + |radius2|) for alpha < 1, with a = -1/am1 - 1/2 (docs/math.md 5.6). As alpha goes
/// to 1 a goes to infinity and a y to q/2, and nothing here cancels or takes longer.
namespace fenchel::detail {

/// P(y > ...) to kOutsideError (1 + a A) of itself, A = -log(1 - y); P(y < ...) to kOutsideError.
inline constexpr double kOutsideError = 1e-14;

struct CentralBeta {
  double a;
  double inverse_beta;  ///< 1 / B(a, 1/2)
};
FENCHEL_HD inline CentralBeta central_beta(double a) noexcept {
  return {a, std::sqrt(a * std::numbers::inv_pi) * std::exp(log_half_step(a))};
}

/// A point of (0, 1) from both ends.
struct UnitPoint {
  double y, left, log_left;  ///< left = 1 - y
};

/// y = r^2 for 0 <= r <= 1.
FENCHEL_HD inline UnitPoint square_of(double r) noexcept {
  const double y = r * r, left = (1 - r) * (1 + r);
  return {y, left, y < 0.5 ? std::log1p(-y) : std::log(left)};
}
/// y = r^2 / (1 + r^2) for r >= 0.
FENCHEL_HD inline UnitPoint student_square_of(double r) noexcept {
  const double square = r * r, inverse = 1 / (1 + square);
  const double log_left = r < 1e8 ? -std::log1p(square) : -2 * std::log(r);
  return {std::isinf(square) ? 1 : square * inverse, inverse, log_left};
}

/// Where the series of P(y' < y) is shorter than the fraction of P(y' > y), and 1 less the one is the other
/// to all but one digit.
FENCHEL_HD inline bool in_centre(const CentralBeta& law, const UnitPoint& at) noexcept {
  return at.y < 0.25 && (law.a + 1) * at.y < 1.5;
}

/// P(y' < y) in the centre: 2 sqrt(y) (1 - y)^a / B sum_k (a + 1/2)_k / (3/2)_k y^k, of positive terms.
FENCHEL_HD_LONG inline double inside(const CentralBeta& law, const UnitPoint& at) noexcept {
  constexpr int kTerms = 40;
  const double z = (law.a + 0.5) * at.y;
  double sum = 1, term = 1;
  for (int k = 0; k < kTerms && term > 0x1p-54 * sum; ++k) {
    term *= (z + k * at.y) / (k + 1.5);
    sum += term;
  }
  return 2 * law.inverse_beta * std::sqrt(at.y) * std::exp(law.a * at.log_left) * sum;
}

/// P(y' > y) / (1 - y)^a beyond the centre: sqrt(y) / B over the even part of the continued fraction of the
/// incomplete beta function [DLMF 8.17.22], in terms of y, where all parts of its b_m are positive; from its
/// end. For large a it is that of erfc, which takes 85 / z steps, z = a y, for others 9.3 / sqrt(y).
FENCHEL_HD_LONG inline double outside_ratio(const CentralBeta& law, const UnitPoint& at) noexcept {
  const double a = law.a, y = at.y, root = std::sqrt(y), z = (a + 1) * y;
  const double by_z = 85 / z + 7, by_y = 9.3 / root + 3;
  double fraction = 0, inverse_next = 0;
  for (int m = static_cast<int>(by_z < by_y ? by_z : by_y); m >= 0; --m) {
    const double k = m, half = k + 0.5, inverse = 1 / (a + 2 * k - 1);
    if (inverse_next == 0) inverse_next = 1 / (a + 2 * k + 1);
    double b = (a + k) * inverse_next * ((a + half) * y + half);
    if (m > 0) b += k * inverse * ((a + k - 0.5) + (k - 0.5) * y);
    // a_{m+1} over the fraction from there on.
    const double next = (a + k) * inverse_next * at.left;
    if (fraction > 0) b -= next * (a + half) * inverse_next * at.left * (k + 1) * half / fraction;
    fraction = b;
    inverse_next = inverse;
  }
  return law.inverse_beta * root / fraction;
}

FENCHEL_HD inline double outside(const CentralBeta& law, const UnitPoint& at) noexcept {
  if (at.y <= 0) return 1;
  if (in_centre(law, at)) return 1 - inside(law, at);
  return outside_ratio(law, at) * std::exp(law.a * at.log_left);
}

FENCHEL_HD inline double log_outside(const CentralBeta& law, const UnitPoint& at) noexcept {
  if (at.y <= 0) return 0;
  if (in_centre(law, at)) return std::log1p(-inside(law, at));
  return std::log(outside_ratio(law, at)) + law.a * at.log_left;
}

/// rho = sqrt(-log(1 - y)) of the y with P(y' > y) = 2 u, 0 < u < 1/2, by Halley's steps for the probability
/// inside or the logarithm of the one outside, from erfc(rho a / sqrt(a + 1/4)) = 2 u, which is nearly so.
FENCHEL_HD_LONG inline double root_log_quantile(const CentralBeta& law, double u) noexcept {
  constexpr int kSteps = 12;
  constexpr double kCubed = 1e-6;    // a step of this size leaves its cube
  constexpr double kSmall = 1e-290;  // 1 / u may overflow below
  const double a = law.a;
  double rho =
      -quantile_element<ClosedLine::kGaussian>(u) * std::numbers::sqrt2 / 2 * std::sqrt(a + 0.25) / a;
  for (int i = 0; i < kSteps; ++i) {
    const double square = rho * rho;
    const UnitPoint at{-std::expm1(-square), std::exp(-square), -square};
    const double log_slope = 1 / rho - rho * (2 * a + at.left / at.y);     // of the density of rho
    const double relative = 2 * rho * law.inverse_beta / std::sqrt(at.y);  // density over e^{-a rho^2}
    double step;
    if (in_centre(law, at)) {
      const double density = relative * std::exp(-a * square), gap = (1 - 2 * u - inside(law, at)) / density;
      step = gap / (1 + 0.5 * gap * log_slope);
    } else {
      const double ratio = outside_ratio(law, at), hazard = relative / ratio;
      const double log_excess = u > kSmall ? std::log(ratio / (2 * u)) : std::log(ratio) - std::log(2 * u);
      const double gap = (log_excess - a * square) / hazard;
      step = gap / (1 + 0.5 * gap * (log_slope + hazard));
    }
    const double next = rho + step;
    const bool done = std::abs(step) <= kCubed * rho;
    rho = next > 0.25 * rho ? (next < 4 * rho ? next : 4 * rho) : 0.25 * rho;
    if (done) break;
  }
  return rho;
}

}  // namespace fenchel::detail
