#include <algorithm>
#include <cfloat>
#include <cmath>
#include <limits>

#include "backend/cpu/beta_gaussian_kernels.hpp"
#include "core/lane_math.hpp"
#include "fenchel/core/philox.hpp"

/// The same bits from every compiler and for every instruction set: IEEE + - * / and sqrt alone, compiled
/// without contraction. What is taken from lane_math.hpp is inlined always.
namespace fenchel::detail {
namespace {

static_assert(std::numeric_limits<double>::is_iec559 && FLT_EVAL_METHOD == 0,
              "the same bits everywhere need IEEE doubles, rounded after each operation");

FENCHEL_INLINE std::uint64_t join(std::uint32_t low, std::uint32_t high) noexcept {
  return static_cast<std::uint64_t>(high) << 32 | low;
}

/// The number of uniform01, without a conversion.
FENCHEL_INLINE double uniform(std::uint64_t bits) noexcept {
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

/// (sin(x) / x - 1) / x^2 and (cos(x) - 1) / x^2 in x^2 for |x| <= pi/4: Taylor's, which leave 1e-17.
constexpr double kSin[] = {-1. / 6,        1. / 120,         -1. / 5040,           1. / 362880,
                           -1. / 39916800, 1. / 6227020800., -1. / 1307674368000., 1. / 355687428096000.};
constexpr double kCos[] = {-1. / 2,       1. / 24,        -1. / 720,          1. / 40320,
                           -1. / 3628800, 1. / 479001600, -1. / 87178291200., 1. / 20922789888000.};

struct Direction {
  double x, y;
};

/// The angle (quarter + V - 1/2) pi/2 for the quarter of the two highest bits and V = uniform01(bits << 2).
FENCHEL_INLINE Direction direction(std::uint64_t bits) noexcept {
  constexpr double kHalfPi = 0x1.921fb54442d18p+0;
  const double angle = (uniform(bits << 2) - 0.5) * kHalfPi, square = angle * angle;
  const double sine = angle + angle * (square * polynomial(square, kSin));
  const double cosine = 1 + square * polynomial(square, kCos);
  const bool swap = (bits >> 62 & 1) != 0;
  const std::uint64_t sign = bits >> 63 << 63;
  const double x = swap ? -sine : cosine, y = swap ? cosine : sine;
  return {from_bits<double>(to_bits(x) ^ sign), from_bits<double>(to_bits(y) ^ sign)};
}

template <class Real>
FENCHEL_INLINE void any_affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                    Rows<Real> out) noexcept {
  for (index_t j = 0; j < out.cols; ++j) {
    const double* const factor = p.factor.row(j);
    std::fill(sum, sum + kBlock, 0.0);
    for (index_t i = 0; i < p.factor.cols; ++i) {
      const double f = factor[i];
      if (f == 0) continue;
      for (index_t k = 0; k < kBlock; ++k) sum[k] += f * z[i * kBlock + k];
    }
    const double mu = p.mu[static_cast<std::size_t>(j)];
    for (index_t k = 0; k < out.rows; ++k) out.row(k)[j] = static_cast<Real>(mu + sum[k]);
  }
}

}  // namespace

FENCHEL_CLONES void polar_pairs(const PolarLaw& law, std::uint64_t seed, std::uint64_t block,
                                std::uint64_t first_stream, double* x, double* y) noexcept {
  std::uint64_t radial[kBlock], angular[kBlock];
  double radius2[kBlock];
  const auto low = [](std::uint64_t n) { return static_cast<std::uint32_t>(n); };
  const auto high = [](std::uint64_t n) { return static_cast<std::uint32_t>(n >> 32); };
  const PhiloxKey key{{low(seed), high(seed)}};
  for (index_t k = 0; k < kBlock; ++k) {
    const std::uint64_t stream = first_stream + static_cast<std::uint64_t>(k);
    const PhiloxCounter bits = philox4x32({{low(block), high(block), low(stream), high(stream)}}, key);
    radial[k] = join(bits.words[0], bits.words[1]);
    angular[k] = join(bits.words[2], bits.words[3]);
  }
  if (law.power == 0) {
    for (index_t k = 0; k < kBlock; ++k) radius2[k] = -law.scale * log_of_uniform(uniform(radial[k]));
  } else {
    const double power = law.power;
    for (index_t k = 0; k < kBlock; ++k) {
      constexpr double kLargest = 700;  // reached for alpha < 0.05 alone, with q of 1e300
      const double log_left = power * log_of_uniform(uniform(radial[k]));
      radius2[k] = -law.scale * bounded_expm1(log_left < kLargest ? log_left : kLargest);
    }
  }
  for (index_t k = 0; k < kBlock; ++k) {
    const double radius = std::sqrt(radius2[k]);
    const Direction to = direction(angular[k]);
    x[k] = radius * to.x;
    y[k] = radius * to.y;
  }
}

FENCHEL_CLONES void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                Rows<float> out) noexcept {
  any_affine_rows(p, z, sum, out);
}

FENCHEL_CLONES void affine_rows(const cpu::BetaGaussianParams& p, const double* z, double* sum,
                                Rows<double> out) noexcept {
  any_affine_rows(p, z, sum, out);
}

}  // namespace fenchel::detail
