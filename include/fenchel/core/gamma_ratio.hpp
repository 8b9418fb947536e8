#pragma once

/// The ratio of gamma functions in the mass of a beta-Gaussian, accurate through alpha = 1.

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// The ratio of gamma functions in the mass of a beta-Gaussian on R^n, analytic through D_n(0) = 0, without
/// gamma functions, which would cancel as alpha -> 1 (docs/math.md 5.2):
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

namespace detail {

/// Orders this near to 1 take quotients that do not cancel there.
inline constexpr double kOrderNearOne = 0.25;

/// log1p(x d) / d, x at d = 0.
FENCHEL_HD inline double log1p_quotient(double x, double d) noexcept {
  return d == 0 ? x : std::log1p(x * d) / d;
}

/// (D_1(am1) - D_1(am1 / order)) / (order - 1): near order 1 as the mean of D_1' between the two, times am1 /
/// order. D_1 has its nearest singularity at am1 = -1, or -2 for am1 < 0: ten nodes of Gauss and Legendre are
/// exact to rounding.
FENCHEL_HD inline double half_difference(double am1, double order) noexcept {
  if (std::abs(order - 1) > kOrderNearOne)
    return (log_gamma_ratio_1(am1) - log_gamma_ratio_1(am1 / order)) / (order - 1);
  constexpr double kNode[] = {0.148874338981631210884826001129720, 0.433395394129247190799265943165784,
                              0.679409568299024406234327365114874, 0.865063366688984510732096688423493,
                              0.973906528517171720077964012084452};
  constexpr double kWeight[] = {0.295524224714752870173815619188769, 0.269266719309996355091226921569469,
                                0.219086362515982043995534934228163, 0.149451349150580593145863397657697,
                                0.066671344308688137593568809893332};
  const double other = am1 / order, half = (am1 - other) / 2, middle = other + half;
  double sum = 0;
  for (int i = 0; i < 5; ++i) {
    sum += kWeight[i] * (log_gamma_ratio_slope_1(middle - half * kNode[i]) +
                         log_gamma_ratio_slope_1(middle + half * kNode[i]));
  }
  return other * sum / 2;
}

}  // namespace detail

/// (D_n(am1) - D_n(am1 / order) - (n/2) log order) / (order - 1), what the integral of p^order needs; am1
/// D_n'(am1) - n/2 at order 1. Any order > 0 with am1/order > -2/n; for am1 > 0 also order in (-am1, 0]. am1
/// may be infinite.
FENCHEL_HD inline double log_power_mass_slope(index_t n, double am1, double order) noexcept {
  constexpr double kSmallExponent = 16, kAsInfinity = 0x1p1020;  // am1 / order may overflow
  if (std::isinf(am1) || (am1 > kAsInfinity && order < 1)) return 0;
  const double d = order - 1, half_n = static_cast<double>(n) / 2;
  if (order < 1 - detail::kOrderNearOne && am1 > 0 && order < kSmallExponent * am1) {
    const double q = order / am1;
    return (log_gamma_ratio(n, am1) - half_n * std::log(am1) - std::lgamma(half_n + 1 + q) +
            std::lgamma(1 + q)) /
           d;
  }
  double sum = n % 2 == 1 ? detail::half_difference(am1, order) : 0;
  for (double k = n % 2 == 1 ? 1.5 : 1; k <= half_n; ++k)
    sum += detail::log1p_quotient(k * am1 / (order + k * am1), d);
  return sum - half_n * detail::log1p_quotient(1, d);
}

}  // namespace fenchel
