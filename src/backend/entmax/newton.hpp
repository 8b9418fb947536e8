#pragma once

#include <algorithm>

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

}  // namespace fenchel::detail
