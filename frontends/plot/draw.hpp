#pragma once

#include <string>

#include "plot/figure.hpp"

namespace fenchel::plot {

/// The figure as an <svg> element whose colours are classes.
[[nodiscard]] std::string draw(const Figure& figure);

}  // namespace fenchel::plot
