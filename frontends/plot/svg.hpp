#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "plot/mark.hpp"

namespace fenchel::plot {

/// Text as XML may hold it: markup escaped; controls and what is not UTF-8 replaced by U+FFFD.
[[nodiscard]] std::string escape(std::string_view text);

/// With two decimals at the most and no trailing zeros.
[[nodiscard]] std::string number(double value);

/// The data of a <path> through these points, joined by lines.
[[nodiscard]] std::string path_data(const Path& points, bool closed = false);

/// An upper estimate in pixels, since the reader's font is unknown.
[[nodiscard]] double text_width(std::string_view text, double font_size);

/// Lines of words that are not wider; a word that is wider alone is cut.
[[nodiscard]] std::vector<std::string> wrap(std::string_view text, double font_size, double width);

/// A <text> element; anchor is start, middle or end.
[[nodiscard]] std::string text_element(Point at, std::string_view classes, std::string_view anchor,
                                       std::string_view content);

}  // namespace fenchel::plot
