#include "plot/chart.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "plot/contour.hpp"
#include "plot/draw.hpp"
#include "plot/layout.hpp"
#include "plot/sample.hpp"

namespace fenchel::plot {
namespace {

constexpr std::size_t kSeries = 7;  // colours that a chart chooses by itself
constexpr int kStrengths = 16;      // of heat

// The runs of points that are finite.
std::vector<Path> runs(const Path& points) {
  std::vector<Path> out(1);
  for (const Point& p : points) {
    if (std::isfinite(p.x) && std::isfinite(p.y)) {
      out.back().push_back(p);
    } else if (!out.back().empty()) {
      out.emplace_back();
    }
  }
  return out;
}

}  // namespace

Chart::Chart(std::string title, Axis x, Axis y) : figure_{std::move(title), std::move(x), std::move(y)} {}

Mark& Chart::add(Mark::Kind kind, const std::string& name, const Style& style, std::vector<Path> paths) {
  Mark mark{kind, name, style, std::move(paths)};
  if (!mark.style.colour) {
    mark.style.colour = next_colour_++ % kSeries;
  }
  *mark.style.colour = std::min(*mark.style.colour, kMuted);
  return figure_.marks.emplace_back(std::move(mark));
}

Range Chart::given(const Axis& axis, const char* call) {
  if (!axis.range) {
    throw std::invalid_argument(
        fmt::format("fenchel::plot: {} needs the range of the axis \"{}\"", call, axis.label));
  }
  return proper(*axis.range);
}

void Chart::line(const std::string& name, std::vector<Point> points, const Style& style) {
  lines(name, {std::move(points)}, style);
}

void Chart::lines(const std::string& name, std::vector<Path> paths, const Style& style) {
  add(Mark::Kind::line, name, style, std::move(paths));
}

void Chart::curve(const std::string& name, const std::function<double(double)>& f, const Style& style) {
  add(Mark::Kind::line, name, style, {sample_curve(f, given(figure_.x, "curve"), figure_.y.range)});
}

void Chart::area(const std::string& name, const std::function<double(double)>& f, const Style& style) {
  const Path points = sample_curve(f, given(figure_.x, "area"), figure_.y.range);
  std::vector<Path> areas = runs(points);
  for (Path& area : areas) {
    if (!area.empty()) {
      area.insert(area.begin(), {area.front().x, 0});
      area.push_back({area.back().x, 0});
    }
  }
  const Style drawn = add(Mark::Kind::fill, name, style, std::move(areas)).style;
  add(Mark::Kind::line, "", drawn, {points});
}

void Chart::polygon(const std::string& name, std::vector<Point> points, const Style& style) {
  polygons(name, {std::move(points)}, style);
}

void Chart::polygons(const std::string& name, std::vector<Path> outlines, const Style& style) {
  const Style drawn = add(Mark::Kind::fill, name, style, outlines).style;
  for (Path& outline : outlines) {
    if (!outline.empty()) {
      outline.push_back(outline.front());
    }
  }
  add(Mark::Kind::line, "", drawn, std::move(outlines));
}

void Chart::band(const std::string& name, const std::vector<double>& x, const std::vector<double>& low,
                 const std::vector<double>& high, const Style& style) {
  if (x.size() != low.size() || x.size() != high.size()) {
    throw std::invalid_argument(fmt::format("fenchel::plot: band needs lists of one size, got {}, {} and {}",
                                            x.size(), low.size(), high.size()));
  }
  std::vector<Path> parts;
  Path lower, upper;
  const auto finish = [&] {
    lower.insert(lower.end(), upper.rbegin(), upper.rend());
    parts.push_back(std::move(lower));
    lower.clear(), upper.clear();
  };
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (std::isfinite(x[i]) && std::isfinite(low[i]) && std::isfinite(high[i])) {
      lower.push_back({x[i], low[i]});
      upper.push_back({x[i], high[i]});
    } else {
      finish();
    }
  }
  finish();
  add(Mark::Kind::fill, name, {style.colour, 0, false}, std::move(parts));
}

void Chart::shade(const std::string& name, Range x, const Style& style) {
  add(Mark::Kind::shade, name, {style.colour, 0, false}, {{{x.low, 0}, {x.high, 0}}});
}

void Chart::stems(const std::string& name, std::vector<Point> points, double shift, const Style& style) {
  add(Mark::Kind::stems, name, style, {std::move(points)}).size = shift;
}

void Chart::bars(const std::string& name, std::vector<Point> points, double width, const Style& style) {
  add(Mark::Kind::bars, name, style, {std::move(points)}).size = width;
}

void Chart::markers(const std::string& name, std::vector<Point> points, Marker marker, const Style& style) {
  add(Mark::Kind::markers, name, style, {std::move(points)}).marker = marker;
}

void Chart::contours(const std::string& name, const std::function<double(double, double)>& f,
                     const std::vector<double>& levels, const Style& style) {
  add(Mark::Kind::line, name, style,
      contour_lines(f, given(figure_.x, "contours"), given(figure_.y, "contours"), levels));
}

void Chart::heat(const std::function<double(double, double)>& f, const Style& style, int cells) {
  const Range x = given(figure_.x, "heat"), y = given(figure_.y, "heat");
  const auto edge = [&](Range range, int i) {
    const double t = static_cast<double>(i) / cells;
    return range.low * (1 - t) + range.high * t;
  };
  std::vector<double> values;
  double largest = 0;
  for (int j = 0; j < cells; ++j) {
    for (int i = 0; i < cells; ++i) {
      const double v = f((edge(x, i) + edge(x, i + 1)) / 2, (edge(y, j) + edge(y, j + 1)) / 2);
      values.push_back(std::isfinite(v) ? v : 0);
      largest = std::max(largest, values.back());
    }
  }
  const auto strength = [&](int i, int j) {
    const double v = i < cells ? values[static_cast<std::size_t>(j * cells + i)] : 0;
    return v > 0 ? static_cast<int>(std::ceil(v / largest * kStrengths)) : 0;
  };
  std::vector<Path> paths(kStrengths);
  for (int j = 0; j < cells; ++j) {
    for (int i = 0, from = 0; i < cells; ++i) {  // cells of one strength side by side are one
      if (const int k = strength(i, j); strength(i + 1, j) != k) {
        if (k > 0) {
          paths[static_cast<std::size_t>(k - 1)].insert(
              paths[static_cast<std::size_t>(k - 1)].end(),
              {{edge(x, from), edge(y, j)}, {edge(x, i + 1), edge(y, j + 1)}});
        }
        from = i + 1;
      }
    }
  }
  add(Mark::Kind::heat, "", style, std::move(paths));
}

void Chart::vertical(const std::string& name, double x, const Style& style) {
  add(Mark::Kind::vertical, name, style, {{{x, 0}}});
}

void Chart::horizontal(const std::string& name, double y, const Style& style) {
  add(Mark::Kind::horizontal, name, style, {{{0, y}}});
}

void Chart::text(Point at, const std::string& content, const Style& style) {
  add(Mark::Kind::text, content, style, {{at}});
}

void Chart::size(double width, double height) {
  figure_.width = std::max(240., width);
  figure_.height = std::max(160., height);
}

double Chart::height() const { return lay_out(figure_).height; }

std::string Chart::element() const { return draw(figure_); }

}  // namespace fenchel::plot
