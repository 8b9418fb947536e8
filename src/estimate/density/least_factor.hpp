#pragma once

#include <cmath>
#include <cstddef>
#include <numbers>
#include <vector>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// The factor of a bandwidth for which a cross-validation is best.
struct LeastFactor {
  double factor;
  bool at_end;  ///< the least or the largest that was tried
};

/// The factor from 1/32 to 4 for which cost is least: the best of a grid of half octaves, then golden
/// sections about it, to 1e-6 of an octave. Where all cost infinity, the grid goes on to the first that does
/// not.
template <class Cost>
[[nodiscard]] LeastFactor least_factor(const Cost& cost) {
  constexpr double kStep = 0.5, kLow = -5, kHigh = 2, kMost = 60, kClose = 1e-6;
  const auto at = [&](double octaves) {
    checkpoint();
    return cost(std::exp2(octaves));
  };
  double best = kInfinity, middle = kLow, last = kLow;
  for (double octaves = kLow; octaves <= kHigh || (best == kInfinity && octaves <= kMost); octaves += kStep) {
    const double value = at(octaves);
    last = octaves;
    if (value < best) {
      best = value;
      middle = octaves;
    }
  }
  if (middle == kLow || (middle == last && last <= kHigh)) return {std::exp2(middle), true};
  constexpr double kShare = std::numbers::phi - 1;
  double low = middle - kStep, high = middle + kStep;
  double a = high - kShare * (high - low), b = low + kShare * (high - low);
  double at_a = at(a), at_b = at(b);
  while (high - low > kClose) {
    if (at_a < at_b) {
      high = b;
      b = a;
      at_b = at_a;
      at_a = at(a = high - kShare * (high - low));
    } else {
      low = a;
      a = b;
      at_a = at_b;
      at_b = at(b = low + kShare * (high - low));
    }
  }
  return {std::exp2((low + high) / 2), false};
}

}  // namespace fenchel::detail
