#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "plot/geometry.hpp"
#include "plot/ticks.hpp"

namespace fenchel::plot {

inline constexpr double kFont = 13, kTitleFont = 15, kLine = 18, kPadding = 8, kSwatch = 22;
inline constexpr double kGap = 6;      ///< between a label and what it belongs to
inline constexpr double kBold = 1.08;  ///< how much wider a bold text is
inline constexpr double kBaseline =
    .35;  ///< of the font size: from the middle of a line down to its baseline

/// A mark's place in the legend: its swatch, and the lines of its name to the right.
struct LegendEntry {
  std::size_t mark;
  Point at;  ///< left, in the middle of the first line
  std::vector<std::string> lines;
};

/// Where everything stands, in pixels.
struct Layout {
  std::vector<std::string> title, x_label, y_label;
  std::vector<LegendEntry> legend;
  double legend_bottom, label_left;
  Range x, y;
  Ticks x_ticks, y_ticks;
  std::vector<std::vector<std::string>> y_names;  ///< the lines of the label of each of its ticks
  Box frame;
  double height;

  [[nodiscard]] Point operator()(Point p) const noexcept {
    return {frame.left + (p.x - x.low) / (x.high - x.low) * (frame.right - frame.left),
            frame.bottom - (p.y - y.low) / (y.high - y.low) * (frame.bottom - frame.top)};
  }
};

[[nodiscard]] Layout lay_out(const Figure& figure);

}  // namespace fenchel::plot
