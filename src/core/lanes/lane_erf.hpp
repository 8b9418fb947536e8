#pragma once

#include <cmath>

#include "core/lanes/lane_math.hpp"

/// erf and erfc of one number without branches, and their lanes.
namespace fenchel::detail {

/// x + x P(x^2), for |x| up to kErfReach.
template <class Real>
FENCHEL_INLINE Real erf_near_zero(Real x) noexcept {
  return x + x * polynomial_of<LaneCoefficients<Real>::kErf, 3>(x * x);
}

/// 1 - exp(Q(|x|)) for larger |x|, where Q approximates log(erfc).
template <class Real>
FENCHEL_INLINE Real erf_element(Real x) noexcept {
  using Fit = LaneCoefficients<Real>;
  const Real a = std::abs(x);
  const ExpParts<Real> parts = exp_parts(polynomial_of<Fit::kLogErfc, 2>(a), Real(0));
  const Real far = a < Fit::kErfOne ? 1 - scale_normal(1 + parts.expm1, parts.rounded) : Real(1);
  return a >= Fit::kErfReach ? std::copysign(far, x) : erf_near_zero(x);
}

/// exp(-x^2) (1 + P(t)) / (1 + 2x), t = (x - pole) / (x + pole), for x >= kErfcReach [Shepherd and
/// Laframboise 1981]; 1 - erf(x) for |x| < kErfcReach; 2 - erfc(-x) for the rest. The square is exact: high^2
/// fits, and what is left of it goes into the argument of exp.
template <class Real>
FENCHEL_INLINE Real erfc_element(Real x) noexcept {
  using Fit = LaneCoefficients<Real>;
  const Real a = std::abs(x);
  const Real high = upper_half(a);
  const ExpParts<Real> parts = exp_parts(-high * high, (a - high) * (a + high));
  const Real p = polynomial_of<Fit::kErfcx>((a - Fit::kErfcxPole) / (a + Fit::kErfcxPole));
  const Real inverse = 1 / (1 + 2 * a);
  const Real w = parts.expm1 + (p + p * parts.expm1);
  Real y = scale(inverse + inverse * w, parts.rounded);
  y = a < Fit::kErfcZero ? y : Real(0);
  y = x < 0 ? 2 - y : y;
  return a >= Fit::kErfcReach ? y : 1 - erf_near_zero(x);
}

}  // namespace fenchel::detail
