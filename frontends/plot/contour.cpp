#include "plot/contour.hpp"

#include <cstddef>
#include <span>

namespace fenchel::plot {

std::vector<Path> contour_lines(const std::function<double(double, double)>& f, Range x, Range y,
                                const std::vector<double>& levels, int cells) {
  const auto batch = [&](std::span<const PlanePoint> points) {
    std::vector<double> values;
    for (const PlanePoint& point : points) values.push_back(f(point.x, point.y));
    return values;
  };
  std::vector<Path> out;
  for (const double level : levels) {
    for (const PlaneLine& line :
         fenchel::contour_lines(batch, {x.low, y.low}, {x.high, y.high}, level, cells)) {
      out.emplace_back();
      for (const PlanePoint& point : line) out.back().push_back({point.x, point.y});
    }
  }
  return out;
}

}  // namespace fenchel::plot
