#pragma once

#include <cmath>

#include "backend/entmax/newton.hpp"
#include "core/lanes/lane_math.hpp"

/// E = exp_{2-alpha}(c d) = (1 + y)_+^{1/am1} and E^{1-am1} = E / (1 + y) of one number y = am1 c d, without
/// branches, for loops over lanes; y = -inf (or +inf for am1 < 0) gives 0.
namespace fenchel::detail {

template <class Real>
struct Powers {
  Real value, escort, second;
  Real kept;  ///< what `moved` needs beside the value
};

/// How small the last Newton step in log P must be for the linear finish of the solver to be below rounding:
/// its error is the step's square times E^{1 - 2 am1}, which is bounded for am1 <= 1/2. Beyond, and for a
/// crowd of scores close to the threshold, no step but one of rounding is small enough.
template <class Real>
FENCHEL_INLINE double last_step(double am1) noexcept {
  if constexpr (sizeof(Real) == 4) return second_is_bounded(am1) ? 1e-4 : 1e-6;
  return second_is_bounded(am1) ? 1e-8 : 0.0;
}

/// E after a small step of log P, to first order: dE = E^{1-am1} - E.
template <class Real>
FENCHEL_INLINE Real moved_linearly(Real value, Real escort, Real step) noexcept {
  return value + step * (escort - value);
}

/// am1 = 1 / q for a small whole q: alpha = 2, 3/2, 4/3, 5/4. No exp, no log.
template <class Real, int q>
struct WholePower {
  using Argument = Real;
  static constexpr int kExponent = q;
  static constexpr bool kClosedForm = q <= 2, kCheap = true, kStarts = false;

  FENCHEL_INLINE Powers<Real> operator()(Real y) const noexcept {
    const Real base = y > -1 ? 1 + y : Real(0), one = y > -1 ? Real(1) : Real(0);
    if constexpr (q == 1) return {base, one, 0, one};
    if constexpr (q == 2) return {base * base, base, one, base};
    Real second = base;
    for (int k = 3; k < q; ++k) second *= base;
    return {second * base * base, second * base, second, second * base};
  }
  [[nodiscard]] FENCHEL_INLINE static Real moved(Real value, Real escort, Real step) noexcept {
    return moved_linearly(value, escort, step);
  }
  [[nodiscard]] FENCHEL_INLINE static bool moves_far() noexcept { return false; }
  /// sum^{-am1}.
  [[nodiscard]] FENCHEL_INLINE double inverse_root(double sum) const noexcept {
    if constexpr (q == 1) return 1 / sum;
    if constexpr (q == 3) return 1 / std::cbrt(sum);
    return 1 / (q == 2 ? std::sqrt(sum) : std::sqrt(std::sqrt(sum)));
  }
  /// At alpha = 2 the mass is piecewise linear: the last step is one that stays on its piece.
  [[nodiscard]] FENCHEL_INLINE double last_step() const noexcept {
    return q == 1 ? 4 * std::numeric_limits<Real>::epsilon() : detail::last_step<Real>(1.0 / q);
  }
};

/// (b (1 + excess))^p in float for b in [2^-126, infinity] and an excess of a rounding: 2^(p log2 b), which
/// errs by 2^-24 of 1 + |p log2 b|; 0 below 2^-126.
FENCHEL_INLINE float power_of_base(float b, float excess, float p) noexcept {
  using Traits = LaneTraits<float>;
  const auto k = static_cast<std::int32_t>(to_bits(b) - to_bits(Traits::kSqrtHalf)) >> Traits::kMantissaBits;
  const float f = from_bits<float>(to_bits(b) - exponent_bits<float>(static_cast<LaneBits<float>>(k))) - 1;
  const float log = f + (f * f * polynomial_of<LaneCoefficients<float>::kLog>(f) + excess);
  const float power = p * (static_cast<float>(k) + log * Traits::kLog2E);
  const float t = power > -126 ? power : -126.0F, rounded = t + Traits::kRounder;
  const float r = (t - (rounded - Traits::kRounder)) * 0x1.62e430p-1F;
  const float significand = 1 + (r + r * r * polynomial_of<LaneCoefficients<float>::kExp>(r));
  return power > -126 ? scale_normal(significand, rounded) : 0.0F;
}

/// Any other am1 in (-1, 1], am1 not 0.
template <class Real>
struct GeneralPower {
  using Argument = Real;
  static constexpr bool kClosedForm = false, kCheap = false;
  static constexpr bool kStarts = true;  ///< with whole powers
  /// Of y, which may be infinite.
  static constexpr Real kLargest = sizeof(Real) == 4 ? Real(0x1p120) : Real(0x1p1000);
  double am1;
  Real inverse_am1 = static_cast<Real>(1 / am1);

  FENCHEL_INLINE Powers<Real> operator()(Real y) const noexcept {
    const bool inside = static_cast<int>(y > -1) & static_cast<int>(y < kLargest);
    const Real safe = inside ? y : Real(0), base = 1 + safe, inverse = 1 / base;
    Real power;
    if constexpr (sizeof(Real) == 4) {
      power = power_of_base(base, (safe - (base - 1)) * inverse, inverse_am1);
    } else {
      power = exp_element(log1p_element(safe) * inverse_am1);
    }
    const Real e = inside ? power : Real(0);
    return {e, e * inverse, e * inverse * inverse, inverse};
  }
  /// To second order: with u = 1 / (1 + y), dE = E (u - 1) and d2E = E (u - 1) ((1 - am1) u - 1).
  [[nodiscard]] FENCHEL_INLINE Real moved(Real value, Real inverse, Real step) const noexcept {
    const Real slope = inverse - 1, bend = static_cast<Real>(1 - am1) * inverse - 1;
    return value + value * slope * step * (1 + bend * (step / 2));
  }
  [[nodiscard]] FENCHEL_INLINE double inverse_root(double sum) const noexcept {
    return std::exp(-am1 * std::log(sum));
  }
  [[nodiscard]] FENCHEL_INLINE double last_step() const noexcept { return detail::last_step<Real>(am1); }
  [[nodiscard]] FENCHEL_INLINE bool moves_far() const noexcept { return third_is_bounded(am1); }
};

/// am1 in (1/2, 1) in float, of y in double: next to the threshold, where the mass is steep, no digit of 1 +
/// y is lost.
struct SteepPower {
  using Argument = double;
  static constexpr bool kCheap = false, kStarts = false;
  static constexpr float kLeast = 0x1p-100F;
  double am1;
  float inverse_am1 = static_cast<float>(1 / am1);

  FENCHEL_INLINE Powers<float> operator()(double y) const noexcept {
    const bool inside = y > -1;
    const auto rounded = static_cast<float>(inside ? 1 + y : 1.0);
    const float base = rounded > kLeast ? rounded : kLeast, inverse = 1 / base;
    const float power = power_of_base(base, 0, inverse_am1), e = inside ? power : 0.0F;
    return {e, e * inverse, 0, e * inverse};
  }
  [[nodiscard]] FENCHEL_INLINE static float moved(float value, float escort, float step) noexcept {
    return moved_linearly(value, escort, step);
  }
  [[nodiscard]] FENCHEL_INLINE static bool moves_far() noexcept { return false; }
  [[nodiscard]] FENCHEL_INLINE static double last_step() noexcept { return 0; }
};

}  // namespace fenchel::detail
