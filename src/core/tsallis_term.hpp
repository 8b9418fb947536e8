#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel::detail {

/// phi(p) = p log_{2-alpha}(p) / alpha, whose sum over a distribution is Omega_alpha; 0 at p = 0 and at
/// infinite alpha.
FENCHEL_HD inline double tsallis_term(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  return p * deformed_log(am1, p) / (1 + am1);
}

/// d phi / d alpha.
FENCHEL_HD inline double tsallis_term_alpha_derivative(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  const double l = std::log(p), alpha = 1 + am1;
  return p * (deformed_log_alpha_derivative<1>(am1, l) - deformed_log_of_exp(am1, l) / alpha) / alpha;
}

/// d^2 phi / d alpha^2 = p (L'' - 2 L' / alpha + 2 L / alpha^2) / alpha, L = log_{2-alpha}(p): for p < 1 no
/// part of it is positive, so nothing cancels.
FENCHEL_HD inline double tsallis_term_alpha_curvature(double am1, double p) noexcept {
  if (p == 0 || std::isinf(am1)) return 0;
  const double l = std::log(p), alpha = 1 + am1;
  const double first = deformed_log_alpha_derivative<1>(am1, l) - deformed_log_of_exp(am1, l) / alpha;
  return p * (deformed_log_alpha_derivative<2>(am1, l) - 2 * first / alpha) / alpha;
}

}  // namespace fenchel::detail
