#pragma once

/// Uniform, exponential, normal, gamma and beta variates, the same bits on every platform.

#include <bit>
#include <cstdint>
#include <memory>
#include <random>

#include "fenchel/core/config.hpp"

/// From random bits to variates. A seed gives the same numbers, bit for bit, with every compiler and on every
/// platform of IEEE doubles that round to nearest: templates hold integer code alone, and all arithmetic on
/// doubles is in variates.cpp, out of + - * / and sqrt, without fused operations and without libm.
namespace fenchel {

/// 64 random bits, the first draw in the lowest. A draw gives as many bits as its range has room for; where
/// the range is not a power of two, draws above the largest one in it are rejected.
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] std::uint64_t random_bits(Rng& rng) {
  constexpr std::uint64_t kRange = std::uint64_t{Rng::max()} - std::uint64_t{Rng::min()};
  if constexpr (kRange == ~std::uint64_t{0}) {
    return rng() - Rng::min();
  } else {
    constexpr int kBits = std::bit_width(kRange + 1) - 1;
    std::uint64_t bits = 0;
    for (int filled = 0; filled < 64; filled += kBits) {
      std::uint64_t draw;
      do {
        draw = std::uint64_t{rng()} - std::uint64_t{Rng::min()};
      } while (draw >> kBits != 0);
      bits |= draw << filled;
    }
    return bits;
  }
}

/// Uniform on the odd multiples of 2^-53 in (0, 1), by the high 52 bits: never 0, 1/2 or 1, symmetric about
/// 1/2, exact.
[[nodiscard]] FENCHEL_EXPORT double uniform01(std::uint64_t bits) noexcept;

/// -log(uniform01(bits)), in [1.1e-16, 36.8].
[[nodiscard]] FENCHEL_EXPORT double standard_exponential(std::uint64_t bits) noexcept;

/// Relative error of standard_normal(bits).
inline constexpr double kNormalRelativeError = 1e-15;

/// The normal quantile at 1/2 + (s + 1/2) / 2^64, where s is `bits` as a signed integer: it grows with s (to
/// its error), is odd about s = -1/2, and reaches +-9.16. [M. Wichura, Algorithm AS 241, Applied Statistics
/// 37 (1988), PPND16].
[[nodiscard]] FENCHEL_EXPORT double standard_normal(std::uint64_t bits) noexcept;

namespace detail {

/// Any generator, behind one type, so that the loops which reject are compiled once.
struct BitSource {
  void* rng;
  std::uint64_t (*next)(void* rng);
};

template <std::uniform_random_bit_generator Rng>
[[nodiscard]] BitSource bit_source(Rng& rng) noexcept {
  return {std::addressof(rng), [](void* erased) { return random_bits(*static_cast<Rng*>(erased)); }};
}

[[nodiscard]] FENCHEL_EXPORT double standard_gamma(double shape, BitSource source);
[[nodiscard]] FENCHEL_EXPORT double standard_log_gamma(double shape, BitSource source);
[[nodiscard]] FENCHEL_EXPORT double standard_beta(double a, double b, BitSource source);

}  // namespace detail

/// These three take 64 bits from the generator.
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double uniform01(Rng& rng) {
  return uniform01(random_bits(rng));
}
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double standard_exponential(Rng& rng) {
  return standard_exponential(random_bits(rng));
}
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double standard_normal(Rng& rng) {
  return standard_normal(random_bits(rng));
}

/// Density t^{shape-1} e^{-t} / Gamma(shape) on t > 0 [G. Marsaglia, W. W. Tsang, A simple method for
/// generating gamma variables, ACM TOMS 26 (2000)]. A variate below 5e-324 is 0, as happens to half of them
/// at shape 1e-3: there take standard_log_gamma. Throws std::domain_error.
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double standard_gamma(double shape, Rng& rng) {
  return detail::standard_gamma(shape, detail::bit_source(rng));
}

/// The logarithm of the gamma variate that standard_gamma would draw; finite for shape > 2.1e-307.
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double standard_log_gamma(double shape, Rng& rng) {
  return detail::standard_log_gamma(shape, detail::bit_source(rng));
}

/// Density t^{a-1} (1-t)^{b-1} / B(a, b) on 0 < t < 1, as X / (X + Y) of gamma variates of shapes a and b. A
/// variate rounds to 0 or to 1 when no double is nearer. Throws std::domain_error.
template <std::uniform_random_bit_generator Rng>
[[nodiscard]] double standard_beta(double a, double b, Rng& rng) {
  return detail::standard_beta(a, b, detail::bit_source(rng));
}

}  // namespace fenchel
