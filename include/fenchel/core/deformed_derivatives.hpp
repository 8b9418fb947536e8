#pragma once

/// Derivatives in alpha of the deformed exponential and logarithm.

#include <cmath>
#include <concepts>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// 1 / (k! (n + 1 + k)), the coefficients of exp_moment's series.
template <int n>
struct ExpMomentSeries {
  static constexpr int kTerms = 20;
  double of[kTerms]{};

  FENCHEL_HD constexpr ExpMomentSeries() {
    double factorial = 1;
    for (int k = 0; k < kTerms; factorial *= ++k) of[k] = 1 / (factorial * (n + 1 + k));
  }
};

/// The n-th moment int_0^1 t^n e^{ty} dt, 1/(n+1) at y = 0: a series for |y| <= 1, where the recurrence
/// (e^y - n M_{n-1}) / y cancels, and the recurrence beyond. Relative error at most kExpMomentUlp in double.
template <int n, std::floating_point Real>
requires(n >= 0 && n <= 2) FENCHEL_HD inline Real exp_moment(Real y) noexcept {
  if (std::abs(y) <= 1) {
    constexpr ExpMomentSeries<n> kSeries;
    Real sum = 0;
    for (int k = kSeries.kTerms - 1; k >= 0; --k) sum = sum * y + Real(kSeries.of[k]);
    return sum;
  }
  if constexpr (n == 0) {
    return std::expm1(y) / y;
  } else {
    return (std::exp(y) - n * exp_moment<n - 1>(y)) / y;
  }
}

inline constexpr double kExpMomentUlp = 16;

/// The n-th derivative of log_{2-alpha}(e^l) with respect to alpha, l^{n+1} int_0^1 t^n e^{t am1 l} dt, for n
/// = 1, 2; l^{n+1} / (n+1) at alpha = 1. 0 for l = 0.
template <int n, std::floating_point Real>
FENCHEL_HD inline Real deformed_log_alpha_derivative(Real am1, Real l) noexcept {
  return (n == 1 ? l * l : l * l * l) * exp_moment<n>(am1 * l);
}

/// The derivative of log exp_{2-alpha}(u) = log1p(am1 u) / am1 with respect to alpha, u^2 (y / (1 + y) -
/// log1p(y)) / y^2 with y = am1 u > -1; -u^2 / 2 at alpha = 1. By its series where the difference cancels.
FENCHEL_HD inline double log_deformed_exp_alpha_derivative(double am1, double u) noexcept {
  const double y = am1 * u;
  if (std::abs(y) > 0.1) return (y / (1 + y) - std::log1p(y)) / (am1 * am1);
  double sum = 0, power = -1;
  for (int k = 1; k <= 18; ++k, power *= -y) sum += power * k / (k + 1);
  return u * u * sum;
}

}  // namespace fenchel
