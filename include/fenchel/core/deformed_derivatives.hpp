#pragma once

#include <cmath>
#include <concepts>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// The n-th moment int_0^1 t^n e^{ty} dt, 1/(n+1) at y = 0: a series for |y| <= 1, where the recurrence
/// (e^y - n M_{n-1}) / y cancels, and the recurrence beyond. Relative error at most kExpMomentUlp in double.
template <int n, std::floating_point Real>
requires(n >= 0 && n <= 2) FENCHEL_HD inline Real exp_moment(Real y) noexcept {
  if (std::abs(y) <= 1) {
    Real sum = 0, term = 1;
    for (int k = 0; k < 20; ++k) {
      sum += term / Real(n + 1 + k);
      term *= y / Real(k + 1);
    }
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

}  // namespace fenchel
