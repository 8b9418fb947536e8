#pragma once

#include <cmath>

#include "core/lanes/lane_math.hpp"

/// The sine and cosine of an angle, and the angle of a complex number, without branches, as lane_math.hpp has
/// exp and log. Absolute errors are at most kLaneAngleError.
namespace fenchel::detail {

inline constexpr double kLaneAngleError = 1e-15;

struct SineCosine {
  double sine, cosine;
};

/// For |x| < 1e5: x = k pi/2 + r with pi/2 in three parts, k times the first two of which is exact; Taylor's
/// series of r, |r| <= pi/4, leave 1e-17.
FENCHEL_INLINE SineCosine sine_cosine_element(double x) noexcept {
  constexpr double kTwoOverPi = 0x1.45f306dc9c883p-1;
  constexpr double kHigh = 0x1.921fb544p+0, kMiddle = 0x1.0b4611a6p-34, kLow = 0x1.3198a2e037073p-69;
  constexpr double kSine[] = {-1. / 6,         1. / 120,         -1. / 5040,         1. / 362880,
                              -1. / 39916800., 1. / 6227020800., -1. / 1307674368e3, 1. / 355687428096e3};
  constexpr double kCosine[] = {
      -1. / 2,         1. / 24,           -1. / 720,          1. / 40320,           -1. / 3628800,
      1. / 479001600., -1. / 87178291200, 1. / 20922789888e3, -1. / 6402373705728e3};
  const double rounded = x * kTwoOverPi + LaneTraits<double>::kRounder;
  const double k = rounded - LaneTraits<double>::kRounder;
  const double r = x - k * kHigh - k * kMiddle - k * kLow, r2 = r * r;
  const double s = r + r * r2 * polynomial<8>(r2, kSine), c = 1 + r2 * polynomial<9>(r2, kCosine);
  const LaneBits<double> quadrant = to_bits(rounded);
  const LaneBits<double> odd = quadrant & 1, sine_sign = (quadrant & 2) << 62;
  const LaneBits<double> cosine_sign = ((quadrant + 1) & 2) << 62;
  const double sine = odd != 0 ? c : s, cosine = odd != 0 ? s : c;
  return {from_bits<double>(to_bits(sine) ^ sine_sign), from_bits<double>(to_bits(cosine) ^ cosine_sign)};
}

/// The angle of re + i im, whose modulus is given, for angles in [0, 3 pi / 4]: eight times the arctangent of
/// an eighth of it.
FENCHEL_INLINE double angle_element(double re, double im, double modulus) noexcept {
  constexpr double kArctangent[] = {1.,       -1. / 3,  1. / 5,   -1. / 7,  1. / 9,
                                    -1. / 11, 1. / 13,  -1. / 15, 1. / 17,  -1. / 19,
                                    1. / 21,  -1. / 23, 1. / 25,  -1. / 27, 1. / 29};
  const double half = im / (modulus + re), quarter = half / (1 + std::sqrt(1 + half * half));
  const double eighth = quarter / (1 + std::sqrt(1 + quarter * quarter));
  return 8 * eighth * polynomial<15>(eighth * eighth, kArctangent);
}

}  // namespace fenchel::detail
