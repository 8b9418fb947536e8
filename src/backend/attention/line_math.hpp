#pragma once

#include <numbers>

#include "backend/attention/wanted.hpp"
#include "core/lanes/lane_math.hpp"

/// What the loops of continuous attention on the line are made of, on the CPU and on a GPU.
namespace fenchel::detail {

inline constexpr double kInverseRootTwoPi = 1 / (std::numbers::sqrt2 / std::numbers::inv_sqrtpi);

/// What the loops of kernels compare with: minima and maxima, which every compiler turns into vectors.
FENCHEL_INLINE double smaller(double x, double y) noexcept { return x < y ? x : y; }
FENCHEL_INLINE double larger(double x, double y) noexcept { return x > y ? x : y; }
FENCHEL_INLINE double bounded(double x, double bound) noexcept { return larger(smaller(x, bound), -bound); }
/// The square of it is finite: what is larger belongs to a value that has vanished.
inline constexpr double kLargestSquared = 1e153;

/// exp(x) for x in [-700, 700] and log(x) for a normal x > 0, to the accuracy that is wanted.
template <Accuracy kAccuracy>
FENCHEL_INLINE double exp_of(double x) noexcept {
  if constexpr (kAccuracy == Accuracy::kSingle) {
    using Traits = LaneTraits<double>;
    const double power = x * Traits::kLog2E, rounded = power + Traits::kRounder;
    const double r = power - (rounded - Traits::kRounder);
    return scale_normal(1 + r * polynomial_of<LaneCoefficients<float>::kExp2>(r), rounded);
  } else {
    const ExpParts<double> parts = exp_parts(x, 0.0);
    return scale_normal(1 + parts.expm1, parts.rounded);
  }
}
template <Accuracy kAccuracy>
FENCHEL_INLINE double log_of(double x) noexcept {
  using Traits = LaneTraits<double>;
  const LogParts<double> parts = log_parts<double>(to_bits(x), Traits::kInteger + double(Traits::kBias));
  if constexpr (kAccuracy == Accuracy::kSingle) {
    return std::numbers::ln2 *
           (parts.exponent + parts.fraction * polynomial_of<LaneCoefficients<float>::kLog2>(parts.fraction));
  } else {
    return log_sum(parts.exponent, parts.fraction, 0.0);
  }
}

}  // namespace fenchel::detail
