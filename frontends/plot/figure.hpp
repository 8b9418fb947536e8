#pragma once

#include <optional>
#include <string>
#include <vector>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// Text is UTF-8; the writer escapes it.
struct Axis {
  std::string label;
  std::optional<Range> range = {};      ///< none: of what is drawn, up to the next good ticks
  std::vector<std::string> names = {};  ///< of y alone, in place of numbers: the first stands at 1
};

/// All that a chart was told.
struct Figure {
  std::string title;
  Axis x, y;
  std::vector<Mark> marks = {};
  bool equal_units = false;
  double width = 440, height = 330;
};

}  // namespace fenchel::plot
