#pragma once

#include <cmath>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// The density exp_{2-alpha}(g - a) of a score g with top 0, by the logarithm of its peak, l = log
/// exp_{2-alpha}(-a): log p = l + log exp_{2-alpha}(c g) with c = e^{-am1 l}, exact where a and the threshold
/// overflow. For infinite alpha p is 1 where g >= -level.
struct Peaked {
  double am1, log_peak;
  double level = 0;

  [[nodiscard]] double steepness() const {
    return am1 == 0 || std::isinf(am1) ? 1 : std::exp(-am1 * log_peak);
  }
  [[nodiscard]] double height() const {
    if (std::isinf(am1)) return level;
    return am1 > 0 ? 1 / (am1 * steepness()) : kInfinity;
  }
  /// c is the steepness, which a caller with many g computes once.
  [[nodiscard]] double log_density(double g, double c) const {
    if (std::isinf(am1)) return g >= -level ? log_peak : -kInfinity;
    if (g == 0) return log_peak;
    if (g == -kInfinity) return g;
    return log_peak + log_deformed_exp(am1, c * g);
  }
  /// The normalizer, A / T, above the top of the score.
  [[nodiscard]] double offset() const {
    return std::isinf(am1) ? -level : 0.0 - deformed_log_of_exp(am1, log_peak);
  }
};

}  // namespace fenchel::detail
