#pragma once

#include <functional>
#include <vector>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// The lines f = level by marching squares on a grid of cells * cells: each whole, a closed one with its
/// first point again at the end, larger values on its left. Points between nodes are found by bisection, to
/// kContourAccuracy of a cell. Cells with a corner that is not finite are left out.
inline constexpr double kContourAccuracy = 1e-4;
[[nodiscard]] std::vector<Path> contour_lines(const std::function<double(double, double)>& f, Range x,
                                              Range y, const std::vector<double>& levels, int cells = 120);

}  // namespace fenchel::plot
