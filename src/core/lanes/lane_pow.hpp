#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/lanes/lane_math.hpp"
#include "fenchel/core/infinity.hpp"

/// x^y without branches for many x and one y: C's pow in every special value of x, for any y but 0 and NaN.
namespace fenchel::detail {

/// What the lanes need to know of y.
template <class Real>
struct PowExponent {
  Real value;                 ///< within +-2^70: beyond, x^y is 0, 1 or infinite all the same
  Real high, low;             ///< value = high + low, half the digits each
  Real at_zero, at_infinity;  ///< 0^y and inf^y
  Real below_zero;            ///< a factor for x < 0: 1 for a whole y, else NaN
  LaneBits<Real> sign;        ///< the sign bit for an odd y: (-x)^y = -x^y

  explicit PowExponent(Real y) noexcept {
    constexpr Real kHuge = 0x1p70f;
    value = std::clamp(y, -kHuge, kHuge);
    high = upper_half(value);
    low = value - high;
    at_zero = y > 0 ? Real(0) : kInfinity;
    at_infinity = y > 0 ? kInfinity : Real(0);
    below_zero = value == std::trunc(value) ? Real(1) : std::numeric_limits<Real>::quiet_NaN();
    sign = std::abs(std::fmod(value, Real(2))) == 1 ? to_bits(Real(-0.0)) : 0;
  }
};

/// 2 / (3 ln 2) in two parts, the first of 26 bits.
inline constexpr double kTwoThirdsLog2EHigh = 0x1.ec709d8p-1, kTwoThirdsLog2ELow = 0x1.0e80ff5d27f05p-27;

/// |x|^y. log2 |x| = e + 2 / (3 ln 2) s (3 + s^2 + ...), s = (m - 1) / (m + 1), |x| = 2^e m, in two doubles
/// to 65 bits as in fdlibm's e_pow.c; every product of upper halves is exact.
FENCHEL_INLINE double pow_magnitude(double x, const PowExponent<double>& y) noexcept {
  using Traits = LaneTraits<double>;
  const LogParts<double> parts = log_parts_of(x);
  const double f = parts.fraction, d = 2 + f, inverse = 1 / d;
  const double s_near = f * inverse, s_high = upper_half(s_near);
  const double d_high = upper_half(d), d_low = f - (d_high - 2);
  const double s_low = ((f - s_high * d_high) - s_high * d_low) * inverse, s = s_high + s_low;

  const double z_high = s_high * s_high, z_low = s_low * (s_high + s), z = z_high + z_low;
  const double tail = z * z * polynomial(s_near * s_near, LaneCoefficients<double>::kAtanh) + z_low;
  const double t_high = upper_half(3 + z_high + tail), t_low = tail - ((t_high - 3) - z_high);
  const double u = s_high * t_high, v = s_low * t_high + t_low * s;
  const double p_high = upper_half(u + v), p_low = v - (p_high - u);

  const double w_high = kTwoThirdsLog2EHigh * p_high;
  const double w_low = kTwoThirdsLog2ELow * p_high + (kTwoThirdsLog2EHigh + kTwoThirdsLog2ELow) * p_low;
  const double log_high = upper_half((w_high + w_low) + parts.exponent);
  const double log_low = w_low - ((log_high - parts.exponent) - w_high);

  const double high = y.high * log_high, low = y.value * log_low + y.low * log_high;
  const double power = high + low;
  const double rounded = power + Traits::kRounder;
  const double r = ((high - (rounded - Traits::kRounder)) + low) * 0x1.62e42fefa39efp-1;
  const double expm1 = r + r * r * polynomial(r, LaneCoefficients<double>::kExp);
  // An infinite result whose `power` has rounded to 1024 comes out as NaN.
  const double result = scale(1 + expm1, rounded);
  const double bounded = power <= 1024 ? (result < kInfinity ? result : kInfinity) : kInfinity;
  return power < -1100 ? 0 : bounded;
}

/// The same in plain double, which has digits enough.
FENCHEL_INLINE float pow_magnitude(float x, const PowExponent<float>& y) noexcept {
  using Traits = LaneTraits<double>;
  using Fit = LaneCoefficients<float>;
  const LogParts<double> parts =
      log_parts<double>(to_bits(double(x)), Traits::kInteger + double(Traits::kBias));
  const double log2 = parts.exponent + parts.fraction * polynomial(parts.fraction, Fit::kLog2);
  double power = double(y.value) * log2;
  power = power < 200 ? power : 200;
  power = power > -200 ? power : -200;
  const double rounded = power + Traits::kRounder;
  const double r = power - (rounded - Traits::kRounder);
  return float(scale_normal(1 + r * polynomial(r, Fit::kExp2), rounded));
}

template <class Real>
FENCHEL_INLINE Real pow_element(Real x, const PowExponent<Real>& y) noexcept {
  const Real a = std::abs(x);
  Real power = pow_magnitude(a, y);
  power = x < 0 ? power * y.below_zero : power;
  power = a == 0 ? y.at_zero : power;
  power = a == kInfinity ? y.at_infinity : power;
  power = x == x ? power : x;
  return std::copysign(power, from_bits<Real>(to_bits(x) & y.sign));
}

}  // namespace fenchel::detail
