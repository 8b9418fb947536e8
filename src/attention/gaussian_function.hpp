#pragma once

#include <cmath>
#include <numbers>

namespace fenchel::detail {

/// N(t; mean, width^2).
[[nodiscard]] inline double gaussian_function(double t, double mean, double width) noexcept {
  const double z = (t - mean) / width;
  return std::exp(-z * z / 2) / (width * std::sqrt(2 * std::numbers::pi));
}

}  // namespace fenchel::detail
