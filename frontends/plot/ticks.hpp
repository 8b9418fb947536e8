#pragma once

#include <string>
#include <vector>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// Larger numbers are not drawn.
inline constexpr double kLargest = 1e300;

/// Multiples of 1, 2 or 5 times a power of ten, ascending.
struct Ticks {
  double step;
  std::vector<double> values;
  std::vector<std::string> names = {};  ///< their labels, where those are no numbers
};

/// At 1, 2, ...
[[nodiscard]] Ticks named_ticks(const std::vector<std::string>& names);

/// The range with finite ends in order, far enough apart that ticks between them differ.
[[nodiscard]] Range proper(Range range);

/// Those inside the range: as many as `most` allows, or one more where they would be fewer than 4.
inline constexpr int kMostTicks = 7;
[[nodiscard]] Ticks inner_ticks(Range range, int most = kMostTicks);

/// The range up to multiples of the next good step below that of its ticks: little more than the range
/// itself.
[[nodiscard]] Range extended(Range range);

/// Their names, or short decimals, with one power of ten for all where numbers are very large or small.
[[nodiscard]] std::vector<std::string> labels(const Ticks& ticks);

}  // namespace fenchel::plot
