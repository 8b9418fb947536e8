#pragma once

#include <cmath>
#include <cstdint>

#include "core/lanes/lane_math.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/philox.hpp"

/// Whitened draws of beta-Gaussians: of rank 1 and 2 from a random point of the plane, of a higher rank from
/// pairs of normal variates over one gamma variate. The same bits from every compiler, for every instruction
/// set and on a GPU: IEEE + - * / and sqrt alone, to be compiled without contraction. What is taken from
/// lane_math.hpp is inlined always.
namespace fenchel::detail {

/// A uniform direction and x^2 + y^2 = scale (1 - U^power), or -scale log(U) for power = 0.
struct PolarLaw {
  double scale, power;
};

/// q / radius2 ~ Beta(r/2, 1 + 1/am1). In the plane P(q / radius2 > y) = (1 - y)^{alpha/am1}, and the line is
/// the first coordinate of a plane with 1/2 + 1/am1 in place of alpha/am1, since Beta(1, b) Beta(1/2, 1/2) is
/// Beta(1/2, b + 1/2). Both hold with radius2 < 0 for alpha < 1.
FENCHEL_INLINE PolarLaw polar_law(const BetaGaussianConstants& c) noexcept {
  const auto rank = static_cast<double>(c.dimension);
  if (c.am1 == 0) return {2, 0};
  return {c.radius2, std::isinf(c.am1) ? 2 / rank : 2 * c.am1 / (2 + rank * c.am1)};
}

/// 128 random bits for a point.
struct PolarBits {
  std::uint64_t radial, angular;
};

/// Block `block` of a stream of Philox(seed).
FENCHEL_INLINE PolarBits polar_bits(std::uint64_t seed, std::uint64_t block, std::uint64_t stream) noexcept {
  const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  const auto high = [](std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32); };
  const auto join = [](std::uint32_t first, std::uint32_t second) {
    return static_cast<std::uint64_t>(second) << 32 | first;
  };
  const PhiloxCounter bits =
      philox4x32({{low(block), high(block), low(stream), high(stream)}}, {{low(seed), high(seed)}});
  return {join(bits.words[0], bits.words[1]), join(bits.words[2], bits.words[3])};
}

/// The number of uniform01, without a conversion.
FENCHEL_INLINE double uniform_of_bits(std::uint64_t bits) noexcept {
  return (from_bits<double>(bits >> 12 | to_bits(1.0)) - 1) + 0x1p-53;
}

FENCHEL_INLINE double log_of_uniform(double u) noexcept {
  constexpr double kBias = LaneTraits<double>::kInteger + double(LaneTraits<double>::kBias);
  const LogParts<double> parts = log_parts<double>(to_bits(u), kBias);
  return log_sum(parts.exponent, parts.fraction, 0.0);
}

/// expm1(x) for |x| <= 700: 2^k (1 + e) - 1, which does not cancel since |e| < 1/2.
FENCHEL_INLINE double bounded_expm1(double x) noexcept {
  const ExpParts<double> parts = exp_parts(x, 0.0);
  const double power = scale_normal(1.0, parts.rounded);
  return power * parts.expm1 + (power - 1);
}

FENCHEL_INLINE double exponential_radius2(const PolarLaw& law, std::uint64_t radial) noexcept {
  return -law.scale * log_of_uniform(uniform_of_bits(radial));
}

/// For a power other than 0.
FENCHEL_INLINE double power_radius2(const PolarLaw& law, std::uint64_t radial) noexcept {
  constexpr double kLargest = 700;  // reached for alpha < 0.05 alone, with q of 1e300
  const double log_left = law.power * log_of_uniform(uniform_of_bits(radial));
  return -law.scale * bounded_expm1(log_left < kLargest ? log_left : kLargest);
}

struct PlanePoint {
  double x, y;
};

/// The angle (quarter + V - 1/2) pi/2 for the quarter of the two highest bits and V = uniform01(bits << 2).
FENCHEL_INLINE PlanePoint direction(std::uint64_t bits) noexcept {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  // (sin(x) / x - 1) / x^2 and (cos(x) - 1) / x^2 in x^2 for |x| <= pi/4: Taylor's, which leave 1e-17.
  constexpr double kSin[] = {-1. / 6,        1. / 120,         -1. / 5040,           1. / 362880,
                             -1. / 39916800, 1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.};
  constexpr double kCos[] = {-1. / 2,       1. / 24,        -1. / 720,          1. / 40320,
                             -1. / 3628800, 1. / 479001600, -1. / 87178291200., 1. / 20922789888000.};
  const double angle = (uniform_of_bits(bits << 2) - 0.5) * kHalfPi, square = angle * angle;
  const double sine = angle + angle * (square * polynomial(square, kSin));
  const double cosine = 1 + square * polynomial(square, kCos);
  const bool swap = (bits >> 62 & 1) != 0;
  const std::uint64_t sign = bits >> 63 << 63;
  const double x = swap ? -sine : cosine, y = swap ? cosine : sine;
  return {from_bits<double>(to_bits(x) ^ sign), from_bits<double>(to_bits(y) ^ sign)};
}

FENCHEL_INLINE PlanePoint polar_point(double radius2, std::uint64_t angular) noexcept {
  const double radius = std::sqrt(radius2);
  const PlanePoint to = direction(angular);
  return {radius * to.x, radius * to.y};
}

/// Normal variates z become the whitened draw: sqrt(radius2 / (|z|^2 + 2 g)) z with g ~ Gamma(1 + 1/am1), and
/// for alpha < 1 sqrt(-radius2 / (2 g)) z with g ~ Gamma(nu / 2), nu = -2/am1 - r (docs/math.md 4). norm2 is
/// |z|^2 or, for alpha < 1, 0.
FENCHEL_INLINE double gamma_shape(const BetaGaussianConstants& c) noexcept {
  return c.am1 < 0 ? -1 / c.am1 - static_cast<double>(c.dimension) / 2 : 1 + 1 / c.am1;
}
FENCHEL_INLINE double deformation(const BetaGaussianConstants& c, double norm2, double gamma) noexcept {
  return std::sqrt(std::abs(c.radius2) / (norm2 + 2 * gamma));
}

/// The stream of a draw after its normal variates.
FENCHEL_INLINE Philox after_normals(const BetaGaussianConstants& c, std::uint64_t seed,
                                    std::uint64_t stream) noexcept {
  Philox rng(seed, stream);
  rng.discard(static_cast<std::uint64_t>(c.dimension + c.dimension % 2));
  return rng;
}

}  // namespace fenchel::detail
