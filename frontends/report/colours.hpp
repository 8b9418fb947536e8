#pragma once

#include <cstddef>

#include "plot/mark.hpp"

namespace fenchel::report {

/// The colour of an alpha, the same in every figure. Alphas that stand in one chart of the report have
/// different ones.
[[nodiscard]] constexpr std::size_t colour_of(double alpha) {
  if (alpha < 0.1) return plot::kMuted;  // the limit 0
  if (alpha < 1) return 6;
  if (alpha == 1) return 0;
  if (alpha <= 1.25) return 5;
  if (alpha < 1.5) return 2;
  if (alpha < 2) return 3;
  if (alpha == 2) return 1;
  return alpha < 10 ? 4 : plot::kInk;
}

}  // namespace fenchel::report
