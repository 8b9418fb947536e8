#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel::detail {

/// Where e^t is next to the largest number, and nothing beside it counts.
inline constexpr double kLargePower = 700;

/// phi(p) = p log_{2-alpha}(p) / alpha, whose sum over a distribution is Omega_alpha; 0 at p = 0 and at
/// infinite alpha.
FENCHEL_HD inline double tsallis_term(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  return p * deformed_log(am1, p) / (1 + am1);
}

/// d phi / d alpha; p^am1 may overflow, and then so does all of it or nothing.
FENCHEL_HD inline double tsallis_term_alpha_derivative(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  const double l = std::log(p), alpha = 1 + am1, t = am1 * l;
  if (t > kLargePower) return std::exp(l + t + std::log(((t - 1) / am1 - 1 / alpha) / am1 / alpha));
  return p * (deformed_log_alpha_derivative<1>(am1, l) - deformed_log_of_exp(am1, l) / alpha) / alpha;
}

/// d^2 phi / d alpha^2 = p (L'' - 2 L' / alpha + 2 L / alpha^2) / alpha, L = log_{2-alpha}(p): for p < 1 no
/// part of it is positive, so nothing cancels.
FENCHEL_HD inline double tsallis_term_alpha_curvature(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  const double l = std::log(p), alpha = 1 + am1, t = am1 * l;
  if (t > kLargePower) {
    const double first = (t - 1) / am1 - 1 / alpha, second = ((t - 2) * t + 2) / (am1 * am1);
    return std::exp(l + t + std::log((second - 2 * first / alpha) / am1 / alpha));
  }
  const double first = deformed_log_alpha_derivative<1>(am1, l) - deformed_log_of_exp(am1, l) / alpha;
  return p * (deformed_log_alpha_derivative<2>(am1, l) - 2 * first / alpha) / alpha;
}

}  // namespace fenchel::detail
