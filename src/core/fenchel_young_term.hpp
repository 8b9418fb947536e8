#pragma once

#include <algorithm>
#include <cmath>

#include "core/tsallis_term.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"

/// The losses of a target q against the score f whose prediction is p = exp_{2-alpha}(u), u = f - A, as sums
/// over coordinates. With phi(q) = q log_{2-alpha}(q) / alpha the sum of phi is Omega_alpha, and q, p both
/// having mass one, Omega*(f) + Omega(q) - <f, q> is the sum of phi(q) + p^alpha / alpha - q (u + 1/alpha).
/// docs/math.md 2.
namespace fenchel::detail {

/// p^alpha / alpha - q (u + 1/alpha): what a coordinate adds to the cross-Omega loss. 0 for q = 0, u = -inf.
FENCHEL_HD inline double cross_omega_term(double am1, double q, double p, double u) noexcept {
  const double power = p > 0 && !std::isinf(am1) ? p * (1 + am1 * u) : 0.0;  // p^alpha
  return power / (1 + am1) - (q > 0 ? q * (u + 1 / (1 + am1)) : 0.0);
}

/// What a coordinate adds to the Fenchel-Young loss: never negative, and exactly 0 at q = p, where it is the
/// Bregman divergence p^alpha (r log_{2-alpha}(r) - r + 1) / alpha of r = q / p, which for alpha < 1 and r
/// far from 1 is computed as p^alpha (alpha (r - 1) - (r^alpha - 1)) / (alpha (1 - alpha)), a difference of
/// smaller numbers. +inf for q > 0, u = -inf.
FENCHEL_HD inline double fenchel_young_term(double am1, double q, double p, double u) noexcept {
  constexpr double kLargestRatio = 1e6;  // beyond it q / p may overflow, and nothing cancels
  if (q > 0 && p > 0 && q <= kLargestRatio * p) {
    const double excess = (q - p) / p, ratio = q / p;
    const double log_ratio = excess < -0.5 ? std::log(q) - std::log(p) : std::log1p(excess);
    const bool near = std::abs(am1 * log_ratio) <= 1;
    if (near || am1 < 0) {  // else r^am1 is far from 1, and the sum below does not cancel
      const double divergence = near ? ratio * deformed_log_of_exp(am1, log_ratio) - excess
                                     : ((1 + am1) * excess - std::expm1((1 + am1) * log_ratio)) / -am1;
      return std::max(0.0, p * (1 + am1 * u) * divergence / (1 + am1));
    }
  }
  return std::max(0.0, tsallis_term(am1, q) + cross_omega_term(am1, q, p, u));
}

}  // namespace fenchel::detail
