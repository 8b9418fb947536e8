#pragma once

#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <limits>

#include "core/lanes/lane_coefficients.hpp"
#include "core/lanes/lanes.hpp"

/// exp, log and log1p of one number without branches, in operations that every instruction set has for
/// vectors, for loops over lanes and arrays. Each is correct with and without contraction to fused
/// multiply-add; the largest errors are the constants of fenchel/core/vector_math.hpp.
namespace fenchel::detail {

/// Layout of a number, and what the reductions of exp and log need.
template <class Real>
struct LaneTraits;
template <>
struct LaneTraits<float> {
  using Bits = std::uint32_t;
  static constexpr int kMantissaBits = 23;
  static constexpr Bits kBias = 127;
  static constexpr float kRounder = 0x1.8p23f;  ///< x + kRounder has round(x) in its lowest bits
  static constexpr float kInteger = 0x1p23f;    ///< kInteger + n, n >= 0, has n in its lowest bits
  static constexpr float kLog2E = 0x1.715476p+0f;
  static constexpr float kLn2High = 0x1.62e4p-1f, kLn2Low = 0x1.7f7d1cp-20f;  ///< n kLn2High is exact
  static constexpr float kSqrtHalf = 0x1.6a09e6p-1f;
  static constexpr float kExpLargest = 0x1.62e42ep+6f;  ///< exp of a larger number overflows
  static constexpr float kExpSmallest = -0x1.ap+6f;     ///< exp of a smaller one rounds to 0
};
template <>
struct LaneTraits<double> {
  using Bits = std::uint64_t;
  static constexpr int kMantissaBits = 52;
  static constexpr Bits kBias = 1023;
  static constexpr double kRounder = 0x1.8p52;
  static constexpr double kInteger = 0x1p52;
  static constexpr double kLog2E = 0x1.71547652b82fep+0;
  static constexpr double kLn2High = 0x1.62e42fefa38p-1, kLn2Low = 0x1.ef35793c7673p-45;
  static constexpr double kSqrtHalf = 0x1.6a09e667f3bcdp-1;
  static constexpr double kExpLargest = 0x1.62e42fefa39efp+9;
  static constexpr double kExpSmallest = -0x1.75p+9;
};

template <class Real>
using LaneBits = typename LaneTraits<Real>::Bits;

template <class Real>
FENCHEL_INLINE constexpr LaneBits<Real> to_bits(Real x) noexcept {
  return std::bit_cast<LaneBits<Real>>(x);
}
template <class Real>
FENCHEL_INLINE constexpr Real from_bits(LaneBits<Real> bits) noexcept {
  return std::bit_cast<Real>(bits);
}

/// x without the lower half of its digits: the square of what is left is exact.
template <class Real>
FENCHEL_INLINE Real upper_half(Real x) noexcept {
  constexpr LaneBits<Real> kLower = (LaneBits<Real>(1) << (LaneTraits<Real>::kMantissaBits / 2 + 1)) - 1;
  return from_bits<Real>(to_bits(x) & ~kLower);
}

/// 2^n as an exponent to add to the bits of a number.
template <class Real>
FENCHEL_INLINE constexpr LaneBits<Real> exponent_bits(LaneBits<Real> n) noexcept {
  return n << LaneTraits<Real>::kMantissaBits;
}

template <std::size_t kFirst, std::size_t kCount, class Real, std::size_t kSize>
FENCHEL_INLINE Real estrin(const Real (&coefficients)[kSize], const Real (&powers)[5]) noexcept {
  if constexpr (kCount == 1) {
    return coefficients[kFirst];
  } else {
    constexpr std::size_t kHalf = std::bit_floor(kCount - 1);
    return estrin<kFirst, kHalf>(coefficients, powers) +
           powers[std::countr_zero(kHalf)] * estrin<kFirst + kHalf, kCount - kHalf>(coefficients, powers);
  }
}

/// sum_i coefficients[i] x^i: Horner's rule; where its chain would be too long to hide, Estrin's for all but
/// the first kExact terms, which carry the accuracy. Unrolled by the templates, since the loop over lanes
/// must be the innermost one.
template <std::size_t kExact = 1, std::size_t kFirst = 0, class Real, std::size_t kSize>
FENCHEL_INLINE Real polynomial(Real x, const Real (&coefficients)[kSize]) noexcept {
  if constexpr (kFirst + 1 == kSize) {
    return coefficients[kFirst];
  } else if constexpr (kSize < 8 || kFirst < kExact) {
    return coefficients[kFirst] + x * polynomial<kExact, kFirst + 1>(x, coefficients);
  } else {
    const Real x2 = x * x, x4 = x2 * x2, x8 = x4 * x4;
    const Real powers[] = {x, x2, x4, x8, x8 * x8};
    return estrin<kFirst, kSize - kFirst>(coefficients, powers);
  }
}

/// The same of a table with a name, of which a GPU has no memory but the values.
template <const auto& kTable, std::size_t kExact = 1, class Real>
FENCHEL_INLINE Real polynomial_of(Real x) noexcept {
  struct Local {
    Real values[std::size(kTable)];
  };
  constexpr Local kLocal = [] {
    Local local{};
    for (std::size_t i = 0; i < std::size(kTable); ++i) local.values[i] = kTable[i];
    return local;
  }();
  return polynomial<kExact>(x, kLocal.values);
}

/// exp(x) = 2^k (1 + expm1): k = round(x / ln 2) in the lowest bits of `rounded`.
template <class Real>
struct ExpParts {
  Real rounded, expm1;
};

/// exp(x - excess) for an excess far below 1. In double the low part of the reduced argument is added last:
/// that is 0.1 ulp for two operations.
template <class Real>
FENCHEL_INLINE ExpParts<Real> exp_parts(Real x, Real excess) noexcept {
  using Traits = LaneTraits<Real>;
  const Real rounded = x * Traits::kLog2E + Traits::kRounder;
  const Real k = rounded - Traits::kRounder;
  const Real high = x - k * Traits::kLn2High;
  const Real r = high - k * Traits::kLn2Low - excess;
  const Real q = polynomial_of<LaneCoefficients<Real>::kExp>(r);
  if constexpr (sizeof(Real) == 4) {
    return {rounded, r + r * r * q};
  } else {
    return {rounded, high + (r * r * q - k * Traits::kLn2Low - excess)};
  }
}

/// significand 2^k, k in the lowest bits of `rounded`, where that is normal.
template <class Real>
FENCHEL_INLINE Real scale_normal(Real significand, Real rounded) noexcept {
  return from_bits<Real>(to_bits(significand) + exponent_bits<Real>(to_bits(rounded)));
}

/// significand 2^k, above 2^(-2 kBias). The bits of a subnormal number, counted as an integer, are its
/// multiple of the smallest one: rounding to an integer makes it, with no subnormal arithmetic. An exponent
/// that has wrapped gives a negative number or NaN.
template <class Real>
FENCHEL_INLINE Real scale(Real significand, Real rounded) noexcept {
  using Traits = LaneTraits<Real>;
  const Real normal = scale_normal(significand, rounded);
  const LaneBits<Real> raised =
      to_bits(normal) + exponent_bits<Real>(Traits::kBias + Traits::kMantissaBits - 1);
  const Real integer = from_bits<Real>(raised) + Traits::kInteger;
  const Real subnormal = from_bits<Real>(to_bits(integer) - to_bits(Traits::kInteger));
  return normal >= std::numeric_limits<Real>::min() ? normal : subnormal;
}

/// Total: exp(-inf) = 0, exp(inf) = inf, NaN stays; subnormal results are rounded once.
template <class Real>
FENCHEL_INLINE Real exp_element(Real x) noexcept {
  using Traits = LaneTraits<Real>;
  const ExpParts<Real> parts = exp_parts(x, Real(0));
  Real y = scale(1 + parts.expm1, parts.rounded);
  y = x < Traits::kExpSmallest ? Real(0) : y;
  return x <= Traits::kExpLargest ? y : x + std::numeric_limits<Real>::infinity();
}

/// x = 2^exponent (1 + fraction), 1 + fraction in [sqrt(1/2), sqrt(2)), for a finite normal x > 0 whose bits
/// are given; `bias` is kInteger + kBias, and more where x was scaled up.
template <class Real>
struct LogParts {
  LaneBits<Real> biased;  ///< the exponent plus kBias, in its place
  Real exponent, fraction;
};

template <class Real>
FENCHEL_INLINE LogParts<Real> log_parts(LaneBits<Real> bits, Real bias) noexcept {
  using Traits = LaneTraits<Real>;
  constexpr LaneBits<Real> kMantissa = exponent_bits<Real>(1) - 1;
  const LaneBits<Real> shifted = bits + (to_bits(Real(1)) - to_bits(Traits::kSqrtHalf));
  const LaneBits<Real> integer = (shifted >> Traits::kMantissaBits) | to_bits(Traits::kInteger);
  return {shifted & ~kMantissa, from_bits<Real>(integer) - bias,
          from_bits<Real>((shifted & kMantissa) + to_bits(Traits::kSqrtHalf)) - 1};
}

/// exponent ln(2) + log(1 + fraction - excess) for an excess of about one rounding error of 1 + fraction.
template <class Real>
FENCHEL_INLINE Real log_sum(Real exponent, Real fraction, Real excess) noexcept {
  using Traits = LaneTraits<Real>;
  const Real f = fraction - excess;
  const Real q = polynomial_of<LaneCoefficients<Real>::kLog, 2>(f);
  const Real low = f * f * q + exponent * Traits::kLn2Low - excess;
  return exponent * Traits::kLn2High + (fraction + low);
}

/// What log gives at the ends of its domain and outside of it; `y` inside.
template <class Real>
FENCHEL_INLINE Real log_or_special(Real x, Real y) noexcept {
  using Limits = std::numeric_limits<Real>;
  y = x < Limits::infinity() ? y : x;
  return x > 0 ? y : (x == 0 ? -Limits::infinity() : Limits::quiet_NaN());
}

/// The parts of a finite x > 0, normal or not.
template <class Real>
FENCHEL_INLINE LogParts<Real> log_parts_of(Real x) noexcept {
  using Traits = LaneTraits<Real>;
  constexpr Real kBias = Traits::kInteger + Real(Traits::kBias);
  constexpr Real kSubnormalBias = kBias + Real(Traits::kBias + Traits::kMantissaBits - 1);
  const bool subnormal = x < std::numeric_limits<Real>::min();
  const Real scaled = from_bits<Real>(to_bits(x) | to_bits(Traits::kInteger)) - Traits::kInteger;
  return log_parts<Real>(subnormal ? to_bits(scaled) : to_bits(x), subnormal ? kSubnormalBias : kBias);
}

/// Total: log(0) = -inf, log(inf) = inf, below 0 and for NaN it is NaN.
template <class Real>
FENCHEL_INLINE Real log_element(Real x) noexcept {
  const LogParts<Real> parts = log_parts_of(x);
  return log_or_special(x, log_sum(parts.exponent, parts.fraction, Real(0)));
}

/// log(u) for u = 1 + x, less the rounding error of u: log1p(x) = x + O(x^2) for small |x|. Total: log1p(-1)
/// = -inf, log1p(-0) = -0, log1p(inf) = inf, below -1 and for NaN it is NaN.
template <class Real>
FENCHEL_INLINE Real log1p_element(Real x) noexcept {
  using Traits = LaneTraits<Real>;
  const Real u = 1 + x;
  const Real excess = (u - 1) - x;
  const LogParts<Real> parts = log_parts<Real>(to_bits(u), Traits::kInteger + Real(Traits::kBias));
  const Real twice_inverse_scale = from_bits<Real>(exponent_bits<Real>(2 * Traits::kBias + 1) - parts.biased);
  const Real y = log_sum(parts.exponent, parts.fraction, excess * (Real(0.5) * twice_inverse_scale));
  return std::copysign(log_or_special(u, y), x);
}

}  // namespace fenchel::detail
