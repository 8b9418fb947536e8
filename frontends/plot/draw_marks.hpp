#pragma once

#include <string>

#include "plot/layout.hpp"
#include "plot/mark.hpp"

namespace fenchel::plot {

/// The elements of a mark, cut at the frame.
[[nodiscard]] std::string draw_mark(const Mark& mark, const Layout& at);

/// What stands before its name in the legend, from `at` to kSwatch to the right.
[[nodiscard]] std::string draw_swatch(const Mark& mark, Point at);

}  // namespace fenchel::plot
