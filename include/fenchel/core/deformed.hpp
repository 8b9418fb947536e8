#pragma once

/// The deformed exponential and logarithm, for every alpha through 1.

#include <cmath>
#include <concepts>
#include <limits>

#include "fenchel/core/config.hpp"

/// The deformed logarithm log_b and exponential exp_b with b = 2 - alpha [SCD22, Section 4.1], written with
/// am1 = 1 - b = alpha - 1. am1 = 0 is the only exact branch: log1p and expm1 carry every other value through
/// it.
namespace fenchel {

/// log exp_{2-alpha}(u) = log1p(am1 u) / am1, u at am1 = 0. -inf where exp_{2-alpha} is 0 (am1 > 0, am1 u <=
/// -1), +inf at and past its pole (am1 < 0, am1 u <= -1).
template <std::floating_point Real>
FENCHEL_HD inline Real log_deformed_exp(Real am1, Real u) noexcept {
  if (am1 == 0) return u;
  const Real x = am1 * u;
  if (x <= -1)
    return am1 > 0 ? -std::numeric_limits<Real>::infinity() : std::numeric_limits<Real>::infinity();
  return std::log1p(x) / am1;
}

/// exp_{2-alpha}(u) = [1 + am1 u]_+^{1/am1}.
template <std::floating_point Real>
FENCHEL_HD inline Real deformed_exp(Real am1, Real u) noexcept {
  return std::exp(log_deformed_exp(am1, u));
}

/// log_{2-alpha}(e^l) = expm1(am1 l) / am1, for a number that is known by its logarithm.
template <std::floating_point Real>
FENCHEL_HD inline Real deformed_log_of_exp(Real am1, Real l) noexcept {
  if (am1 == 0) return l;
  const Real power = std::expm1(am1 * l);
  if (power < std::numeric_limits<Real>::infinity()) return power / am1;
  return std::copysign(std::exp(am1 * l - std::log(std::abs(am1))), am1);
}

/// log_{2-alpha}(u) = (u^am1 - 1) / am1; -1/am1 at u = 0 for am1 > 0, -inf there otherwise; NaN for u < 0.
template <std::floating_point Real>
FENCHEL_HD inline Real deformed_log(Real am1, Real u) noexcept {
  return deformed_log_of_exp(am1, std::log(u));
}

/// Bounds that the tests read, in double: log_deformed_exp and deformed_log are within kDeformedLogUlp for
/// am1 u > -1/2, and their error grows like 1 / (1 + am1 u) towards the edge of the support; deformed_exp is
/// within kDeformedExpUlp * (1 + |log exp_{2-alpha}(u)|).
inline constexpr double kDeformedLogUlp = 4;
inline constexpr double kDeformedExpUlp = 4;

}  // namespace fenchel
