#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <limits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/infinity.hpp"

/// log and exp with the same bits on every platform: IEEE + - * / alone, to be compiled without contraction.
/// The functions have internal linkage, lest the linker replace them by a copy compiled with other options.
namespace fenchel::detail {

/// Largest error of portable_log and portable_exp, in units in the last place.
inline constexpr double kPortableUlp = 1;

// log 2 in two parts; the high one has 42 bits, so that its product with an exponent is exact.
inline constexpr double kLn2High = 0x1.62e42fefa38p-1;
inline constexpr double kLn2Low = 0x1.ef35793c7673p-45;

/// c[0] + c[1] x + c[2] x^2 + ...
template <std::size_t N, std::size_t I = 0>
FENCHEL_HD static inline double horner(const double (&c)[N], double x) noexcept {
  if constexpr (I + 1 == N) {
    return c[I];
  } else {
    return c[I] + x * horner<N, I + 1>(c, x);
  }
}

/// log(x) for positive finite x. With x = 2^k (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), and s = f / (2 + f):
/// log(1 + f) = 2 atanh(s) = 2 s + s R, R = sum_{n>=1} 2 s^{2n} / (2n + 1); ten terms leave 6e-19 of it.
FENCHEL_HD static inline double portable_log(double x) noexcept {
  std::int64_t k = 0;
  if (x < std::numeric_limits<double>::min()) {
    x *= 0x1p54;
    k = -54;
  }
  const auto bits = std::bit_cast<std::int64_t>(x);
  const std::int64_t binades = (bits - std::bit_cast<std::int64_t>(0x1.6a09e667f3bcdp-1)) >> 52;
  const double f = std::bit_cast<double>(bits - (binades << 52)) - 1;
  const double s = f / (2 + f), z = s * s, w = z * z;
  constexpr double kOdd[] = {2. / 3, 2. / 7, 2. / 11, 2. / 15, 2. / 19};
  constexpr double kEven[] = {2. / 5, 2. / 9, 2. / 13, 2. / 17, 2. / 21};
  const double series = z * horner(kOdd, w) + w * horner(kEven, w);
  // 2 s = f - h + s h, which rounds less than a quotient does.
  const double h = 0.5 * f * f, exponent = static_cast<double>(k + binades);
  return exponent * kLn2High + (f - (h - (s * (h + series) + exponent * kLn2Low)));
}

/// exp(x) for any x but NaN, 0 and infinity beyond the range. With x = k log 2 + r, |r| <= 0.35: the Taylor
/// polynomial of degree 14 of exp(r), which leaves 2e-19 of it.
FENCHEL_HD static inline double portable_exp(double x) noexcept {
  if (x > 709.8) return kInfinity;
  if (x < -745.2) return 0;
  const int k = static_cast<int>(x * 0x1.71547652b82fep0 + (x < 0 ? -0.5 : 0.5));
  const double high = x - k * kLn2High, low = k * kLn2Low, r = high - low, r2 = r * r;
  // exp(r) = 1 + r + r^2 (even + r odd), coefficients 1 / n!
  constexpr double kEven[] = {1. / 2,       1. / 24,        1. / 720,        1. / 40320,
                              1. / 3628800, 1. / 479001600, 1. / 87178291200};
  constexpr double kOdd[] = {1. / 6, 1. / 120, 1. / 5040, 1. / 362880, 1. / 39916800, 1. / 6227020800};
  const double y = 1 + (high + (r2 * (horner(kEven, r2) + r * horner(kOdd, r2)) - low));
  // Two exact powers of two, since 2^k itself may be out of range; only a denormal result rounds again.
  const auto power_of_two = [](int n) { return std::bit_cast<double>(std::int64_t{1023 + n} << 52); };
  return y * power_of_two(k / 2) * power_of_two(k - k / 2);
}

}  // namespace fenchel::detail
