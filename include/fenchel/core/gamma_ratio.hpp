#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// The ratio of gamma functions in the mass of a beta-Gaussian on R^n, analytic through D_n(0) = 0, without
/// gamma functions, which would cancel as alpha -> 1 (MATH.md 5.2):
///   D_n(am1) = log [ Gamma(n/2 + 1 + 1/am1) am1^{n/2} / Gamma(1 + 1/am1) ]          for am1 > 0,
///              log [ Gamma(-1/am1) (-am1)^{n/2} / Gamma(-1/am1 - n/2) ]             for -2/n < am1 < 0.
namespace fenchel {

/// Absolute error of log_gamma_ratio, relative to 1 + |D|, and of its derivative, relative to D', for n <=
/// 10.
inline constexpr double kLogGammaRatioError = 5e-15;

namespace detail {

/// Where the asymptotic series below is exact to rounding.
inline constexpr double kHalfStepSeries = 17;

/// log Gamma(x + 1/2) - log Gamma(x) - log(x)/2 for x > 0, by its series in 1/x past 17 and the recurrence
/// before.
FENCHEL_HD inline double log_half_step(double x) noexcept {
  double shifts = 0, y = x;
  for (; y < kHalfStepSeries; ++y) shifts += std::log1p(-1 / (2 * y + 1));
  const double w = 1 / y, w2 = w * w;
  const double series =
      -w / 8 +
      w * w2 * (1. / 192 + w2 * (-1. / 640 + w2 * (17. / 14336 + w2 * (-31. / 18432 + w2 * 691. / 180224))));
  return series + shifts + (y > x ? std::log(y / x) / 2 : 0.0);
}

/// x^2 times its derivative; 1/8 at infinity.
FENCHEL_HD inline double half_step_slope(double x) noexcept {
  if (std::isinf(x)) return 1. / 8;
  double shifts = 0, y = x, steps = 0;
  for (; y < kHalfStepSeries; ++y, ++steps) shifts += 1 / (y * (2 * y + 1));
  const double w = 1 / y, w2 = w * w, ratio = x / y;
  const double series =
      1. / 8 + w2 * (-1. / 64 + w2 * (1. / 128 + w2 * (-17. / 2048 + w2 * (31. / 2048 - w2 * 691. / 16384))));
  return ratio * ratio * series + x * x * shifts - steps * ratio / 2;
}

/// D_n for n = 1.
FENCHEL_HD inline double log_gamma_ratio_1(double am1) noexcept {
  if (am1 == 0) return 0;
  return am1 > 0 ? std::log1p(am1) / 2 + log_half_step(1 + 1 / am1)
                 : std::log1p(am1 / 2) / 2 + log_half_step(-1 / am1 - 0.5);
}

FENCHEL_HD inline double log_gamma_ratio_slope_1(double am1) noexcept {
  const double base = am1 >= 0 ? 1 + am1 : 1 + am1 / 2;
  const double x = am1 >= 0 ? 1 + 1 / am1 : -1 / am1 - 0.5;
  const double step = half_step_slope(x) / (base * base);
  return am1 >= 0 ? 0.5 / base - step : 0.25 / base + step;
}

}  // namespace detail

/// D_n(am1) for finite am1 > -2/n.
FENCHEL_HD inline double log_gamma_ratio(index_t n, double am1) noexcept {
  double sum = n % 2 == 1 ? detail::log_gamma_ratio_1(am1) : 0;
  for (double k = n % 2 == 1 ? 1.5 : 1; 2 * k <= static_cast<double>(n); ++k) sum += std::log1p(k * am1);
  return sum;
}

/// dD_n / dam1; 0 at am1 = infinity.
FENCHEL_HD inline double log_gamma_ratio_slope(index_t n, double am1) noexcept {
  if (std::isinf(am1)) return 0;
  double sum = n % 2 == 1 ? detail::log_gamma_ratio_slope_1(am1) : 0;
  for (double k = n % 2 == 1 ? 1.5 : 1; 2 * k <= static_cast<double>(n); ++k) sum += k / (1 + k * am1);
  return sum;
}

/// (D_n(am1) - D_n(am1 / order) - (n/2) log order) / (order - 1), what the integral of p^order needs; am1
/// D_n'(am1) - n/2 at order 1. Any order > 0 with am1/order > -2/n; for am1 > 0 also order in (-am1, 0]. am1
/// may be infinite.
[[nodiscard]] FENCHEL_EXPORT double log_power_mass_slope(index_t n, double am1, double order);

}  // namespace fenchel
