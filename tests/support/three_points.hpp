#pragma once

#include <array>
#include <cmath>

#include "fenchel/estimate/statistics/line_moments.hpp"

namespace fenchel::testing {

/// Three weighted points with these moments; the kurtosis is at least 1.
inline LineMoments moments_with(double mean, double variance, double kurtosis, double weight = 100) {
  const double a = std::sqrt(variance * kurtosis), outer = weight / (2 * kurtosis);
  return LineMoments::of(std::array{mean - a, mean, mean + a}, std::array{outer, weight - 2 * outer, outer});
}

}  // namespace fenchel::testing
