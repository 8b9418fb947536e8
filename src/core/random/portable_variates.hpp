#pragma once

#include <cmath>
#include <cstdint>
#include <limits>

#include "core/random/normal_quantile.hpp"
#include "core/random/portable_math.hpp"

/// The arithmetic of fenchel/core/variates.hpp, with the same bits on every platform and on a GPU: IEEE + - *
/// / and sqrt, to be compiled without contraction. Internal linkage as in portable_math.hpp. `next` gives 64
/// random bits a call.
namespace fenchel::detail {

template <const Rational& kRational>
FENCHEL_HD static inline double portable_evaluate(double x) noexcept {
  constexpr Rational kLocal = kRational;
  return horner(kLocal.p, x) / horner(kLocal.q, x);
}

FENCHEL_HD static inline double portable_uniform01(std::uint64_t bits) noexcept {
  return (static_cast<double>(static_cast<std::int64_t>(bits >> 12)) + 0.5) * 0x1p-52;
}

FENCHEL_HD static inline double portable_exponential(std::uint64_t bits) noexcept {
  return -portable_log(portable_uniform01(bits));
}

FENCHEL_HD static inline double portable_normal(std::uint64_t bits) noexcept {
  using namespace normal_quantile;
  const auto position = static_cast<std::int64_t>(bits);
  const std::int64_t distance = position < 0 ? ~position : position;
  const double q = (static_cast<double>(distance) + 0.5) * 0x1p-64;
  double z;
  if (q <= kCentreEnd) {
    z = q * portable_evaluate<kCentre>(kCentreSquare - q * q);
  } else {
    const std::int64_t to_end = std::numeric_limits<std::int64_t>::max() - distance;
    const double tail = (static_cast<double>(to_end) + 0.5) * 0x1p-64;
    const double r = std::sqrt(-portable_log(tail));
    z = r <= kFarTailStart ? portable_evaluate<kTail>(r - kTailStart)
                           : portable_evaluate<kFarTail>(r - kFarTailStart);
  }
  return position < 0 ? -z : z;
}

/// A gamma variate of shape >= 1 [Marsaglia and Tsang 2000]: d (1 + c x)^3 of a normal x is nearly one, and a
/// rejection (of 5% at shape 1, fewer above) makes it exact; the squeeze spares most of the logarithms.
template <class Next>
FENCHEL_HD static inline double gamma_from_one(double shape, Next& next) {
  const double d = shape - 1. / 3, c = 1 / (3 * std::sqrt(d));
  for (;;) {
    const double x = portable_normal(next()), u = portable_uniform01(next());
    const double root = 1 + c * x, v = root * root * root, x2 = x * x;
    if (root <= 0) continue;
    if (u < 1 - 0.0331 * x2 * x2) return d * v;
    if (portable_log(u) < 0.5 * x2 + d * (1 - v + portable_log(v))) return d * v;
  }
}

/// The logarithm of a gamma variate: below shape 1 it is U^{1/shape} times one of shape + 1, which may
/// underflow.
template <class Next>
FENCHEL_HD static inline double portable_log_gamma(double shape, Next& next) {
  if (shape >= 1) return portable_log(gamma_from_one(shape, next));
  const double log_of_next = portable_log(gamma_from_one(shape + 1, next));
  return log_of_next - portable_exponential(next()) / shape;
}

template <class Next>
FENCHEL_HD static inline double portable_gamma(double shape, Next& next) {
  return shape >= 1 ? gamma_from_one(shape, next) : portable_exp(portable_log_gamma(shape, next));
}

}  // namespace fenchel::detail
