#pragma once

/// `contour_lines` of a function in the plane, by marching squares.

#include <functional>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"

namespace fenchel {

struct PlanePoint {
  double x, y;
};
using PlaneLine = std::vector<PlanePoint>;
/// Values of a function at many points.
using PlaneFunction = std::function<std::vector<double>(std::span<const PlanePoint>)>;

/// The lines f = level on [lower, upper] by marching squares on a grid of cells * cells: each whole, a closed
/// one with its first point again at the end, larger values on its left. Points between nodes are found by
/// bisection, to kContourAccuracy of a cell. Cells with a corner that is not finite are left out.
inline constexpr double kContourAccuracy = 1e-4;
[[nodiscard]] FENCHEL_EXPORT std::vector<PlaneLine> contour_lines(const PlaneFunction& f, PlanePoint lower,
                                                                  PlanePoint upper, double level, int cells);

}  // namespace fenchel
