#pragma once

#include <algorithm>
#include <cmath>

#include "core/lanes/lanes.hpp"

/// The step for c = P^{-am1} (fenchel/core/normalizer.hpp), alpha up to two, from S = sum E, R = sum
/// E^{1-am1}, T = sum E^{1-2am1} and r = c S^{-am1}: c becomes c / (1 + change).
namespace fenchel::detail {

/// x / y; of floats on a GPU within two roundings.
FENCHEL_INLINE double quotient(double x, double y) noexcept { return x / y; }
FENCHEL_INLINE float quotient(float x, float y) noexcept {
#ifdef __CUDA_ARCH__
  return __fdividef(x, y);
#else
  return x / y;
#endif
}

/// Where T is bounded, and Halley's step worth it.
template <class Real>
FENCHEL_INLINE bool second_is_bounded(Real am1) noexcept {
  return am1 <= Real(0.5);
}

/// Newton's change, that of next_log_peak (src/core/normalizer.cpp) in terms of c: (r - 1) S / R, r - 1 =
/// excess. From it P is never too small.
template <class Real>
FENCHEL_INLINE Real newton_change(Real excess, Real sum, Real escort) noexcept {
  return quotient(sum, escort) * excess;
}

/// Halley's, which divides Newton's by 1 - (1 - r) (1 - am1) / (2 am1) (S T / R^2 - 1), at least by 1/2.
template <class Real>
FENCHEL_INLINE Real halley_change(Real am1, Real excess, Real sum, Real escort, Real second) noexcept {
  const Real curvature = quotient(quotient(sum, escort) * second, escort) - 1;
  const Real lengthening = quotient(-excess * (1 - am1), 2 * am1) * curvature;
  return quotient(newton_change(excess, sum, escort), 1 - std::min(Real(0.5), lengthening));
}

/// Where E^{1-3am1} is bounded, and the last step may be taken to second order.
template <class Real>
FENCHEL_INLINE bool third_is_bounded(Real am1) noexcept {
  return am1 <= Real(1) / 3;
}

/// Whether a step of log P to second order leaves no more than rounding: its cube times sum E^{1-3am1} / S,
/// of which T^2 / (R S) is a lower bound and, but for a crowd at the threshold, much the same.
template <class Real>
FENCHEL_INLINE bool third_is_small(Real step, Real sum, Real escort, Real second) noexcept {
  constexpr Real kMost = Real(0.01), kThird = sizeof(Real) == 4 ? Real(2e-7) : Real(4e-16);
  const Real size = std::abs(step), third = size * size * size * (second / escort) * (second / sum);
  return static_cast<bool>(static_cast<int>(size <= kMost) & static_cast<int>(third <= kThird));
}

/// The step of log P of a small change of c: log (1 + change) / am1.
template <class Real>
FENCHEL_INLINE Real step_of_log_peak(Real am1, Real change) noexcept {
  return change * (1 - change / 2) / am1;
}

}  // namespace fenchel::detail
