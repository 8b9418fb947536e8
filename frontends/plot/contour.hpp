#pragma once

#include <functional>
#include <vector>

#include "fenchel/core/contour.hpp"
#include "plot/mark.hpp"

namespace fenchel::plot {

/// The lines f = level of each level, as fenchel/core/contour.hpp finds them.
[[nodiscard]] std::vector<Path> contour_lines(const std::function<double(double, double)>& f, Range x,
                                              Range y, const std::vector<double>& levels, int cells = 120);

}  // namespace fenchel::plot
