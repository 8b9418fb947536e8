#include "plot/draw_marks.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <string_view>

#include "plot/geometry.hpp"
#include "plot/svg.hpp"

namespace fenchel::plot {
namespace {

constexpr double kHead = 7, kFoot = 3;  // diameter of a stem's head, radius of its ring at zero

std::string dash(const Style& style) { return style.dashed ? R"( stroke-dasharray="6 4")" : ""; }

std::string stroke(const Style& style, const std::string& data, std::string_view more = "") {
  return data.empty() ? ""
                      : fmt::format(R"(<path class="s{}" stroke-width="{}"{}{} d="{}"/>)", *style.colour,
                                    number(style.width), dash(style), more, data);
}

std::string fill(char kind, const Style& style, const std::string& data, std::string_view more = "") {
  return data.empty() ? "" : fmt::format(R"(<path class="{}{}"{} d="{}"/>)", kind, *style.colour, more, data);
}

std::string bar(const Style& style, const std::string& data) {
  return data.empty()
             ? ""
             : fmt::format(R"(<path class="s{0} l{0}" stroke-width="1" style="fill-opacity:.45" d="{1}"/>)",
                           *style.colour, data);
}

std::string shading(const Style& style, const std::string& data) {
  return fmt::format(R"(<path class="l{} shade" d="{}"/>)", *style.colour, data);
}

// Dots are lines of no length with round ends, which take the fewest bytes.
std::string dots(const Path& points, const Style& style, double diameter) {
  std::string data;
  for (const Point& p : points) {
    data += fmt::format("M{} {}h0", number(p.x), number(p.y));
  }
  return stroke({style.colour, diameter, false}, data, R"( stroke-linecap="round")");
}

std::string rings(const Path& points, const Style& style, double radius, std::string_view more = "") {
  std::string out;
  for (const Point& p : points) {
    out += fmt::format(R"(<circle class="s{}{}" stroke-width="1.5" cx="{}" cy="{}" r="{}"/>)", *style.colour,
                       more, number(p.x), number(p.y), number(radius));
  }
  return out;
}

std::string heads(const Path& points, const Style& style, Marker marker) {
  if (marker == Marker::dot) {
    return dots(points, style, style.width);
  }
  if (marker == Marker::ring) {
    return rings(points, style, style.width / 2);
  }
  std::string data;
  for (const Point& p : points) {
    const std::string w = number(style.width);
    data += fmt::format("M{} {}l{} {}m0 -{}l-{} {}", number(p.x - style.width / 2),
                        number(p.y - style.width / 2), w, w, w, w, w);
  }
  return stroke({style.colour, 1.5, false}, data);
}

std::string rectangle(Point a, Point b) {
  return fmt::format("M{} {}H{}V{}H{}z", number(a.x), number(a.y), number(b.x), number(b.y), number(a.x));
}

Path shown(const Path& points, const Layout& at, double shift = 0) {
  Path out;
  for (const Point& p : points) {
    const Point q = at({p.x + shift, p.y});
    if (at.frame.contains(q)) {
      out.push_back(q);
    }
  }
  return out;
}

Path pixels(const Path& points, const Layout& at) {
  Path out;
  for (const Point& p : points) {
    out.push_back(at(p));
  }
  return out;
}

Point into(Point p, const Box& box) {
  return {std::clamp(p.x, box.left, box.right), std::clamp(p.y, box.top, box.bottom)};
}

std::string lines(const std::vector<Path>& paths, const Box& frame) {
  std::string data;
  for (const Path& path : paths) {
    for (const Path& part : clip_line(path, frame)) {
      data += path_data(simplify(part));
    }
  }
  return data;
}

std::string draw_fill(const Mark& mark, const Layout& at) {
  std::string data;
  for (const Path& path : mark.paths) {
    const Path inside = simplify(clip_polygon(pixels(path, at), at.frame));
    data += inside.size() > 2 ? path_data(inside, true) : "";
  }
  return fill('l', mark.style, data, R"( fill-rule="evenodd")");
}

std::string draw_line(const Mark& mark, const Layout& at) {
  std::vector<Path> paths;
  for (const Path& path : mark.paths) {
    paths.push_back(pixels(path, at));
  }
  return stroke(mark.style, lines(paths, at.frame), R"( stroke-linejoin="round")");
}

std::string draw_stems(const Mark& mark, const Layout& at) {
  std::vector<Path> stems;
  Path tops, zeros;
  for (const Point& p : mark.paths.front()) {
    if (p.y == 0) {
      zeros.push_back(p);
    } else {
      stems.push_back({at({p.x + mark.size, 0}), at({p.x + mark.size, p.y})});
      tops.push_back(p);
    }
  }
  return stroke(mark.style, lines(stems, at.frame)) + dots(shown(tops, at, mark.size), mark.style, kHead) +
         rings(shown(zeros, at, mark.size), mark.style, kFoot, " hollow");
}

std::string draw_bars(const Mark& mark, const Layout& at) {
  std::string data;
  for (const Point& p : mark.paths.front()) {
    const Point a = at({p.x - mark.size / 2, 0}), b = at({p.x + mark.size / 2, p.y});
    const bool visible = b.x > at.frame.left && a.x < at.frame.right && std::isfinite(b.y);
    data += visible ? rectangle(into(a, at.frame), into(b, at.frame)) : "";
  }
  return bar(mark.style, data);
}

std::string draw_heat(const Mark& mark, const Layout& at) {
  std::string out;
  for (std::size_t k = 0; k < mark.paths.size(); ++k) {
    const Path corners = pixels(mark.paths[k], at);
    std::string data;
    for (std::size_t i = 0; i + 1 < corners.size(); i += 2) {
      data += rectangle(into(corners[i], at.frame), into(corners[i + 1], at.frame));
    }
    const double strength = static_cast<double>(k + 1) / static_cast<double>(mark.paths.size());
    out +=
        fill('f', mark.style, data,
             fmt::format(R"( fill-opacity="{}" shape-rendering="crispEdges")", number(.05 + .85 * strength)));
  }
  return out;
}

std::string draw_shade(const Mark& mark, const Layout& at) {
  const Range x{mark.paths[0][0].x, mark.paths[0][1].x};
  const double left = std::clamp(at({x.low, 0}).x, at.frame.left, at.frame.right);
  const double right = std::clamp(at({x.high, 0}).x, at.frame.left, at.frame.right);
  return left < right ? shading(mark.style, rectangle({left, at.frame.top}, {right, at.frame.bottom})) : "";
}

std::string draw_text(const Mark& mark, const Layout& at) {
  const Point p = at(mark.paths[0][0]);
  if (!at.frame.contains(p)) {
    return "";
  }
  const double half = std::min(text_width(mark.name, kFont), at.frame.right - at.frame.left) / 2;
  const double x = std::max(at.frame.left + half, std::min(p.x, at.frame.right - half));
  const double y = std::clamp(p.y + kBaseline * kFont, at.frame.top + kFont, at.frame.bottom - 4);
  return text_element({x, y}, fmt::format("text halo f{}", *mark.style.colour), "middle", mark.name);
}

}  // namespace

std::string draw_mark(const Mark& mark, const Layout& at) {
  const Box& frame = at.frame;
  switch (mark.kind) {
    case Mark::Kind::line:
      return draw_line(mark, at);
    case Mark::Kind::fill:
      return draw_fill(mark, at);
    case Mark::Kind::shade:
      return draw_shade(mark, at);
    case Mark::Kind::stems:
      return draw_stems(mark, at);
    case Mark::Kind::bars:
      return draw_bars(mark, at);
    case Mark::Kind::markers:
      return heads(shown(mark.paths.front(), at), mark.style, mark.marker);
    case Mark::Kind::heat:
      return draw_heat(mark, at);
    case Mark::Kind::vertical: {
      const double x = at(mark.paths[0][0]).x;
      return stroke(mark.style, lines({{{x, frame.bottom}, {x, frame.top}}}, frame));
    }
    case Mark::Kind::horizontal: {
      const double y = at(mark.paths[0][0]).y;
      return stroke(mark.style, lines({{{frame.left, y}, {frame.right, y}}}, frame));
    }
    case Mark::Kind::text:
      return draw_text(mark, at);
  }
  return "";
}

std::string draw_swatch(const Mark& mark, Point at) {
  const Point right{at.x + kSwatch, at.y}, middle{at.x + kSwatch / 2, at.y};
  const std::string box = rectangle({at.x + 2, at.y - 5}, {right.x - 2, at.y + 5});
  switch (mark.kind) {
    case Mark::Kind::line:
    case Mark::Kind::vertical:
    case Mark::Kind::horizontal:
      return stroke(mark.style, path_data({at, right}));
    case Mark::Kind::shade:
      return shading(mark.style, box);
    case Mark::Kind::fill:
      return fill('l', mark.style, box) +
             (mark.style.width > 0
                  ? stroke(mark.style, path_data({{at.x + 2, at.y - 5}, {right.x - 2, at.y - 5}}))
                  : "");
    case Mark::Kind::bars:
      return bar(mark.style, box);
    case Mark::Kind::stems:
      return stroke(mark.style, path_data({at, middle})) + dots({middle}, mark.style, kHead);
    case Mark::Kind::markers:
      return heads({middle}, mark.style, mark.marker);
    case Mark::Kind::heat:
    case Mark::Kind::text:
      return "";
  }
  return "";
}

}  // namespace fenchel::plot
