#include "plot/draw.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <vector>

#include "plot/draw_marks.hpp"
#include "plot/layout.hpp"
#include "plot/svg.hpp"

namespace fenchel::plot {
namespace {

// From the frame to the baseline of the labels below it, clear of those beside it.
constexpr double kTickDrop = 21;

std::string draw_grid(const Layout& at) {
  std::string data;
  for (const double x : at.x_ticks.values) {
    data += fmt::format("M{} {}V{}", number(at({x, 0}).x), number(at.frame.bottom), number(at.frame.top));
  }
  for (const double y : at.y_ticks.values) {
    data += fmt::format("M{} {}H{}", number(at.frame.left), number(at({0, y}).y), number(at.frame.right));
  }
  return fmt::format(R"(<path class="grid" d="{}"/>)", data);
}

std::string draw_axes(const Figure& figure, const Layout& at) {
  const Box& f = at.frame;
  std::string data =
      fmt::format("M{} {}V{}H{}", number(f.left), number(f.top), number(f.bottom), number(f.right));
  if (!figure.equal_units && at.y.low < 0 && at.y.high > 0) {
    data += fmt::format("M{} {}H{}", number(f.left), number(at({0, 0}).y), number(f.right));
  }
  return fmt::format(R"(<path class="axis" d="{}"/>)", data);
}

std::string draw_labels(const Figure& figure, const Layout& at) {
  std::string out;
  const std::vector<std::string> x = labels(at.x_ticks);
  for (std::size_t i = 0; i < x.size(); ++i) {
    out +=
        text_element({at({at.x_ticks.values[i], 0}).x, at.frame.bottom + kTickDrop}, "text", "middle", x[i]);
  }
  for (std::size_t i = 0; i < at.y_names.size(); ++i) {
    const std::vector<std::string>& lines = at.y_names[i];
    double y = at({0, at.y_ticks.values[i]}).y + kBaseline * kFont -
               kLine / 2 * (static_cast<double>(lines.size()) - 1);
    for (const std::string& line : lines) {
      out += text_element({at.frame.left - kGap, y}, "text", "end", line);
      y += kLine;
    }
  }
  const auto column = [&](const std::vector<std::string>& lines, Point from, const char* classes) {
    for (const std::string& line : lines) {
      out += text_element(from, classes, "start", line);
      from.y += kLine;
    }
  };
  column(at.title, {kPadding, kPadding / 2 + kTitleFont}, "title");
  column(at.y_label, {at.label_left, at.legend_bottom + kPadding / 2 + kFont}, "text");
  double bottom = at.frame.bottom + kTickDrop + kLine + 1;
  for (const std::string& line : at.x_label) {
    const double half = text_width(line, kFont) / 2 + kPadding;
    const double middle = std::max(half, std::min((at.frame.left + at.frame.right) / 2, figure.width - half));
    out += text_element({middle, bottom}, "text", "middle", line);
    bottom += kLine;
  }
  for (const LegendEntry& entry : at.legend) {
    out += draw_swatch(figure.marks[entry.mark], entry.at);
    column(entry.lines, {entry.at.x + kSwatch + kGap, entry.at.y + kBaseline * kFont}, "text");
  }
  return out;
}

}  // namespace

std::string draw(const Figure& figure) {
  const Layout at = lay_out(figure);
  const std::string width = number(figure.width), height = number(at.height);
  std::string out = fmt::format(
      R"(<svg xmlns="http://www.w3.org/2000/svg" class="chart" role="img" width="{0}" height="{1}" viewBox="0 0 {0} {1}">)"
      R"(<title>{2}</title><rect class="paper" width="{0}" height="{1}"/>)",
      width, height, escape(figure.title));
  for (const Mark& mark : figure.marks) {
    out += mark.kind == Mark::Kind::shade ? draw_mark(mark, at) : "";
  }
  out += draw_grid(at) + draw_axes(figure, at);
  for (const Mark& mark : figure.marks) {
    out += mark.kind == Mark::Kind::shade ? "" : draw_mark(mark, at);
  }
  return out + draw_labels(figure, at) + "</svg>";
}

}  // namespace fenchel::plot
