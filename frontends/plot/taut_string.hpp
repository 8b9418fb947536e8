#pragma once

#include <algorithm>
#include <cmath>

#include "fenchel/predict/total_variation_function.hpp"
#include "plot/chart.hpp"

namespace fenchel::plot {

/// The tube, and the string in it, thick where it is straight: there the density has a plateau.
inline void draw(Chart& chart, const TautString& drawn) {
  Path string, straight;
  for (std::size_t i = 0; i < drawn.t.size(); ++i) {
    string.push_back({drawn.t[i], drawn.string[i]});
    const bool on_plateau = std::ranges::any_of(
        drawn.plateaus, [&](const Interval& plateau) { return plateau.contains(drawn.t[i]); });
    straight.push_back({drawn.t[i], on_plateau ? drawn.string[i] : NAN});
  }
  chart.band("tube", drawn.t, drawn.lower, drawn.upper, {.colour = 0});
  chart.line("string", string, {.colour = kInk, .width = 1.5});
  chart.line("straight", straight, {.colour = 1, .width = 3.5});
}

}  // namespace fenchel::plot
