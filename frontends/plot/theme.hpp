#pragma once

#include <string>

namespace fenchel::plot {

/// automatic: light, and dark on a screen where the reader's system says so.
enum class Theme { automatic, light, dark };

/// The CSS of everything that a chart draws; it reaches elements inside an <svg> alone. They carry classes
/// (s0..s8 stroke, f0..f8 fill, l0..l8 light fill, lighter with shade; text, title, heading, grid, axis,
/// paper; hollow fills with paper, halo sets text off from what is behind it), colours stand here alone.
[[nodiscard]] std::string style_sheet(Theme theme);

}  // namespace fenchel::plot
