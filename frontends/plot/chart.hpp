#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <vector>

#include "plot/figure.hpp"
#include "plot/mark.hpp"
#include "plot/theme.hpp"

namespace fenchel::plot {

/// A chart with two axes: marks in the order of drawing, those with a name in the legend. The same calls give
/// the same bytes. Points that are not finite break a line; what leaves the frame is cut at it.
class Chart {
 public:
  Chart(std::string title, Axis x, Axis y);

  /// Points joined by straight lines.
  void line(const std::string& name, std::vector<Point> points, const Style& style = {});
  /// Several under one name.
  void lines(const std::string& name, std::vector<Path> paths, const Style& style = {});
  /// y = f(x) over the whole range of x, which must be given.
  void curve(const std::string& name, const std::function<double(double)>& f, const Style& style = {});
  /// The area between y = f(x) and zero, filled lightly, with the curve. The range of x must be given.
  void area(const std::string& name, const std::function<double(double)>& f, const Style& style = {});
  /// A closed polygon, filled lightly, with its outline.
  void polygon(const std::string& name, std::vector<Point> points, const Style& style = {});
  /// Several under one name; one within another is a hole.
  void polygons(const std::string& name, std::vector<Path> outlines, const Style& style = {});
  /// The area between two curves over the same x, filled lightly, without an outline.
  void band(const std::string& name, const std::vector<double>& x, const std::vector<double>& low,
            const std::vector<double>& high, const Style& style = {});
  /// The whole height between two x, behind everything: a support. Infinite ends are the frame's.
  void shade(const std::string& name, Range x, const Style& style = {});
  /// A stem with a head at each point; a ring at the foot where y is exactly 0. `shift`, in units of x, sets
  /// several apart.
  void stems(const std::string& name, std::vector<Point> points, double shift = 0, const Style& style = {});
  /// Bars from zero, of this width in units of x.
  void bars(const std::string& name, std::vector<Point> points, double width, const Style& style = {});
  /// style.width is the diameter in pixels.
  void markers(const std::string& name, std::vector<Point> points, Marker marker = Marker::dot,
               const Style& style = {.width = 4});
  /// The lines f(x, y) = level by marching squares on a grid over the ranges, which must be given.
  void contours(const std::string& name, const std::function<double(double, double)>& f,
                const std::vector<double>& levels, const Style& style = {});
  /// f >= 0 on a grid of cells over the ranges, which must be given: the fuller the colour the larger;
  /// nothing where it is exactly 0.
  void heat(const std::function<double(double, double)>& f, const Style& style = {}, int cells = 48);
  void vertical(const std::string& name, double x, const Style& style = {});
  void horizontal(const std::string& name, double y, const Style& style = {});
  /// Text whose middle stands at a point.
  void text(Point at, const std::string& content, const Style& style = {.colour = kInk});

  /// One unit of x is as long as one of y: the frame becomes narrower or lower than the size allows.
  void equal_units() { figure_.equal_units = true; }
  /// In pixels; 440 by 330 unless it is called, 240 by 160 at least. The legend and further lines of the
  /// title come on top.
  void size(double width, double height);

  [[nodiscard]] const std::string& title() const noexcept { return figure_.title; }
  [[nodiscard]] double width() const noexcept { return figure_.width; }
  /// As it is drawn, with the legend.
  [[nodiscard]] double height() const;
  /// The chart as an <svg> element without a style sheet, to stand in a page that has style_sheet().
  [[nodiscard]] std::string element() const;

 private:
  Mark& add(Mark::Kind kind, const std::string& name, const Style& style, std::vector<Path> paths);
  /// Throws std::invalid_argument where a range that `call` needs was not given.
  [[nodiscard]] static Range given(const Axis& axis, const char* call);

  Figure figure_;
  std::size_t next_colour_ = 0;
};

/// The charts in rows of `columns`, as an SVG file of its own with its style sheet.
[[nodiscard]] std::string svg_file(const std::string& title, const std::vector<Chart>& charts,
                                   std::size_t columns = 2, Theme theme = Theme::automatic);

}  // namespace fenchel::plot
