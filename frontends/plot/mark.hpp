#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

namespace fenchel::plot {

struct Point {
  double x, y;
};

struct Range {
  double low, high;
};

using Path = std::vector<Point>;

/// How a mark is drawn. Colours 0 to 6 are after Okabe and Ito's, which colour-blind readers tell apart.
struct Style {
  std::optional<std::size_t> colour = {};  ///< none: the next one
  double width = 2;
  bool dashed = false;
};
inline constexpr std::size_t kInk = 7;    ///< the colour of text
inline constexpr std::size_t kMuted = 8;  ///< the colour of what stands behind

enum class Marker { dot, ring, cross };

/// What one call of Chart adds, in units of the data.
struct Mark {
  enum class Kind { line, fill, shade, stems, bars, markers, heat, vertical, horizontal, text };
  Kind kind;
  std::string name;  ///< in the legend unless empty; of a text its content
  Style style;       ///< with its colour
  /// line, fill: each a path; heat: for each strength the cells, two corners each; others: one list of
  /// points.
  std::vector<Path> paths;
  double size = 0;  ///< bars: their width; stems: their shift
  Marker marker = Marker::dot;
};

}  // namespace fenchel::plot
