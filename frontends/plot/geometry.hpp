#pragma once

#include <vector>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// A rectangle in pixels; y grows downwards.
struct Box {
  double left, top, right, bottom;
  [[nodiscard]] bool contains(Point p) const noexcept {
    return p.x >= left && p.x <= right && p.y >= top && p.y <= bottom;
  }
};

/// The parts of a line inside the box; points that are not finite break it.
[[nodiscard]] std::vector<Path> clip_line(const Path& line, const Box& box);

/// A closed polygon cut at the box, by Sutherland and Hodgman: parts may hang together along its sides.
[[nodiscard]] Path clip_polygon(const Path& polygon, const Box& box);

/// The fewest of the points, the ends among them, from which no other is farther than kVisible, by Douglas
/// and Peucker.
inline constexpr double kVisible = .05;
[[nodiscard]] Path simplify(const Path& line);

}  // namespace fenchel::plot
