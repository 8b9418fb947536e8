#include "plot/theme.hpp"

#include <fmt/format.h>

#include <array>
#include <string_view>

namespace fenchel::plot {
namespace {

struct Palette {
  std::array<std::string_view, 9> colours;
  std::string_view paper, grid, axis, light, shade;
};

// Okabe and Ito's colours, darker or lighter so that each has a contrast of 3 with the paper at least, and so
// far apart that readers with protanopia or deuteranopia tell any two as well as the originals.
constexpr Palette kLight{
    {"#005b9a", "#d04a00", "#008a68", "#dc66ae", "#c18b00", "#4398f0", "#4f4800", "#1f2328", "#7a828c"},
    "#ffffff",
    "#e6e9ed",
    "#6b737d",
    ".18",
    ".12"};
constexpr Palette kDark{
    {"#36a8ff", "#f2522a", "#0c9d6c", "#e283bd", "#f4a52e", "#9bdaf9", "#efe97c", "#e6e9ed", "#8f98a3"},
    "#15181d",
    "#2b3038",
    "#8f98a3",
    ".28",
    ".2"};

std::string rules(const Palette& p) {
  std::string css = fmt::format("svg .text,svg .title{{fill:{}}}\n", p.colours[7]);
  for (std::size_t i = 0; i < p.colours.size(); ++i) {
    css += fmt::format(
        "svg .s{0}{{stroke:{1};fill:none}}svg .f{0}{{fill:{1}}}svg .l{0}{{fill:{1};fill-opacity:{2}}}\n", i,
        p.colours[i], p.light);
  }
  return css + fmt::format(
                   "svg .paper,svg .hollow{{fill:{0}}}svg .halo{{stroke:{0}}}\n"
                   "svg .grid{{stroke:{1}}}svg .axis{{stroke:{2}}}svg .shade{{fill-opacity:{3}}}\n",
                   p.paper, p.grid, p.axis, p.shade);
}

}  // namespace

std::string style_sheet(Theme theme) {
  std::string css =
      "svg .text{font:13px system-ui,sans-serif}svg .title{font:600 15px system-ui,sans-serif}"
      "svg .heading{font:600 18px system-ui,sans-serif}"
      "svg .halo{stroke-width:3px;stroke-linejoin:round;paint-order:stroke}"
      "svg .grid,svg .axis{fill:none;stroke-width:1px;shape-rendering:crispEdges}\n" +
      rules(theme == Theme::dark ? kDark : kLight);
  if (theme == Theme::automatic) {
    css += "@media screen and (prefers-color-scheme:dark){\n" + rules(kDark) + "}\n";
  }
  return css;
}

}  // namespace fenchel::plot
