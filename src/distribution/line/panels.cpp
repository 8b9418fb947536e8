#include "distribution/line/panels.hpp"
#include "fenchel/core/infinity.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace fenchel::detail {
namespace {

/// The distance from `at` to the first of geometric steps where the log density has moved by one.
double reach(FunctionRef<double(double)> log_density, double at, double direction, double limit) {
  const double room = std::abs(limit - at), here = log_density(at);
  double step = at == 0 ? 0x1p-200 : 4 * std::abs(std::nextafter(at, kInfinity) - at);
  while (step < room && step < 0x1p200) {
    if (!(std::abs(log_density(at + direction * step) - here) < 1)) return step;
    step *= 2;
  }
  return std::isinf(room) ? 1.0 : room;
}

class Builder {
 public:
  Builder(FunctionRef<double(double)> f, PanelSum& sum) : f_(f), sum_(sum) {}

  /// Panels from `at` outwards to `limit`, the first of them `width` wide.
  void side(double at, double width, double direction, double limit) {
    constexpr int kMostDoublings = 900;
    if (at == limit) return;
    double near = at, total = 0, last = 0;
    for (int doublings = 0;; ++doublings, width *= 2) {
      double far = near + direction * width;
      const bool end = std::abs(limit - near) <= 1.5 * width;
      if (end) far = limit;
      if (far == near) continue;
      const Panel part = gauss_kronrod(f_, std::min(near, far), std::max(near, far));
      sum_.panels.push_back(part);
      if (end || std::isnan(part.value)) return;
      total += part.scale;
      if (std::isinf(limit)) {
        const double ratio = part.scale / last;
        if (doublings >= 3 &&
            (part.scale == 0 || (ratio < 1 && part.scale * ratio / (1 - ratio) <= kTailShare * total)))
          return;
        const bool flat = std::abs(far) > 0x1p210 && ratio > 0.999;
        if (flat || doublings > kMostDoublings || std::isinf(part.scale)) {
          sum_.finite = false;
          return;
        }
      }
      last = part.scale;
      near = far;
    }
  }

 private:
  FunctionRef<double(double)> f_;
  PanelSum& sum_;
};

void add_up(PanelSum& sum) {
  sum.value = sum.error = sum.scale = 0;
  for (const Panel& part : sum.panels) {
    sum.value += part.value;
    sum.error += part.error;
    sum.scale += part.scale;
  }
}

}  // namespace

Centre make_centre(FunctionRef<double(double)> log_density, double at, const Interval& piece) {
  return {at, reach(log_density, at, -1, piece.lower()), reach(log_density, at, 1, piece.upper())};
}

std::vector<Centre> make_centres(FunctionRef<double(double)> log_density, std::span<const Interval> pieces,
                                 std::span<const double> at) {
  std::vector<Centre> centres;
  for (const Interval& piece : pieces) {
    const std::size_t before = centres.size();
    for (const double t : at)
      if (piece.contains(t)) centres.push_back(make_centre(log_density, t, piece));
    if (centres.size() == before) {
      const double lower = std::max(piece.lower(), -0x1p1000), upper = std::min(piece.upper(), 0x1p1000);
      centres.push_back(make_centre(log_density, lower + (upper - lower) / 2, piece));
    }
  }
  return centres;
}

PanelSum integrate_panels(FunctionRef<double(double)> f, std::span<const Interval> pieces,
                          std::span<const Centre> centres, double accuracy) {
  constexpr std::size_t kMostPanels = 10000;
  constexpr double kNoise = 1e-7, kNoLess = 0.9;  // a small error that halving does not lessen is rounding
  PanelSum sum;
  Builder builder(f, sum);
  for (const Interval& piece : pieces) {
    for (std::size_t i = 0; i < centres.size(); ++i) {
      const Centre& c = centres[i];
      if (!piece.contains(c.at)) continue;
      const bool first = i == 0 || !piece.contains(centres[i - 1].at);
      const bool last = i + 1 == centres.size() || !piece.contains(centres[i + 1].at);
      const auto between = [](double a, double b) { return a + (b - a) / 2; };
      builder.side(c.at, c.left, -1, first ? piece.lower() : between(centres[i - 1].at, c.at));
      builder.side(c.at, c.right, 1, last ? piece.upper() : between(c.at, centres[i + 1].at));
    }
  }
  add_up(sum);
  if (!sum.finite || !(std::abs(sum.scale) < kInfinity)) {
    sum.finite = sum.finite && std::isnan(sum.scale);
    return sum;
  }

  auto& heap = sum.panels;
  std::make_heap(heap.begin(), heap.end(), smaller_error);
  double error = sum.error, scale = sum.scale;
  while (error > accuracy * scale && heap.size() < kMostPanels) {
    std::pop_heap(heap.begin(), heap.end(), smaller_error);
    Panel worst = heap.back();
    if (worst.error == 0) break;  // what is left is rounding of the running sum
    heap.pop_back();
    error -= worst.error;
    const double middle = worst.lower + (worst.upper - worst.lower) / 2;
    // The nodes are doubles: what their rounding moves them by is no error of the rule.
    const double grain = 16 * std::numeric_limits<double>::epsilon() * std::abs(middle);
    if (worst.error * (worst.upper - worst.lower) <= grain * worst.scale) {
      worst.error = 0;
      heap.push_back(worst);
      std::push_heap(heap.begin(), heap.end(), smaller_error);
      continue;
    }
    scale -= worst.scale;
    Panel halves[] = {gauss_kronrod(f, worst.lower, middle), gauss_kronrod(f, middle, worst.upper)};
    const bool noise =
        worst.error < kNoise * worst.scale && halves[0].error + halves[1].error > kNoLess * worst.error;
    for (Panel& part : halves) {
      if (noise) part.error = 0;
      error += part.error;
      scale += part.scale;
      heap.push_back(part);
      std::push_heap(heap.begin(), heap.end(), smaller_error);
    }
  }
  add_up(sum);
  sum.converged = sum.error <= 2 * accuracy * sum.scale;
  std::sort(heap.begin(), heap.end(), [](const Panel& a, const Panel& b) { return a.lower < b.lower; });
  return sum;
}

}  // namespace fenchel::detail
