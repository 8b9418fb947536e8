#include "plot/sample.hpp"

#include <algorithm>
#include <cmath>

namespace fenchel::plot {
namespace {

constexpr int kIntervals = 600;
constexpr int kHalvings = 7;         // of an interval of about .6 pixels
constexpr double kBend = .05 / 240;  // of the height of a usual chart

struct Sampler {
  const std::function<double(double)>& f;
  double height;
  Path points;

  // Appends what is needed between a and b, then b.
  void join(Point a, Point b, int halvings) {
    const double x = a.x + (b.x - a.x) / 2;
    if (halvings > 0 && x > a.x && x < b.x) {
      const bool edge = std::isfinite(a.y) != std::isfinite(b.y);
      const Point middle{x, f(x)};
      if (edge || std::abs(middle.y - (a.y / 2 + b.y / 2)) > kBend * height) {
        join(a, middle, halvings - 1);
        join(middle, b, halvings - 1);
        return;
      }
    }
    points.push_back(b);
  }
};

}  // namespace

Path sample_curve(const std::function<double(double)>& f, Range x, const std::optional<Range>& y) {
  Path coarse;
  double low = INFINITY, high = -INFINITY;
  for (int i = 0; i <= kIntervals; ++i) {
    const double t = static_cast<double>(i) / kIntervals;
    const double at = x.low * (1 - t) + x.high * t;
    coarse.push_back({at, f(at)});
    if (std::isfinite(coarse.back().y)) {
      low = std::min(low, coarse.back().y), high = std::max(high, coarse.back().y);
    }
  }
  // Of values that are all but equal, a chart shows a straight line.
  const double least = 1e-9 * std::max(std::abs(low), std::abs(high));
  const double height = std::max(least, y ? y->high - y->low : high - low);
  Sampler sampler{f, height, {coarse.front()}};
  for (std::size_t i = 1; i < coarse.size(); ++i) {
    sampler.join(coarse[i - 1], coarse[i], kHalvings);
  }
  return sampler.points;
}

}  // namespace fenchel::plot
