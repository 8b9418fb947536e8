#include "distribution/line/panels.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/quadrature/second_rule.hpp"

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

/// Beyond what a scan of a score sees, a tail continues as its last panels do: their ratio hardly changes.
constexpr double kFarthest = 0x1p210, kSteady = 0x1p-42, kFlat = 0.999;
constexpr int kSpan = 16;

class Builder {
 public:
  Builder(FunctionRef<double(double)> f, PanelSum& sum, double bound) : f_(f), sum_(sum), bound_(bound) {}

  [[nodiscard]] Panel panel(double lower, double upper) const {
    return std::isinf(bound_) ? gauss_kronrod(f_, lower, upper)
                              : gauss_kronrod_to_the_ends(f_, lower, upper, bound_);
  }

  /// Panels from `at` outwards to `limit`, the first of them `width` wide; `total` is that of their side
  /// before.
  void side(double at, double width, double direction, double limit, double total = 0) {
    constexpr int kMostDoublings = 900;
    if (at == limit) return;
    double near = at, last = 0, last_ratio = 0;
    for (int doublings = 0;; ++doublings, width *= 2) {
      double far = near + direction * width;
      const bool end = std::abs(limit - near) <= 1.5 * width;
      if (end) far = limit;
      if (far == near) continue;
      const Panel part = panel(std::min(near, far), std::max(near, far));
      sum_.panels.push_back(part);
      if (end || std::isnan(part.value)) return;
      total += part.scale;
      if (std::isinf(limit)) {
        const double ratio = part.scale / last, change = std::abs(ratio - last_ratio);
        if (doublings >= 3 &&
            (part.scale == 0 || (ratio < 1 && part.scale * ratio / (1 - ratio) <= kTailShare * total)))
          return;
        const bool steady = doublings > 2 * kSpan && (ratio > kFlat || change < kSteady);
        if ((steady && std::abs(far) > kFarthest) || doublings > kMostDoublings || std::isinf(part.scale))
          return end_like_a_power();
        last_ratio = ratio;
      }
      last = part.scale;
      near = far;
    }
  }

  /// Halves panels until the errors are small, or there are 10000, or `growth` times as many as before.
  void refine(double accuracy, std::size_t growth) {
    constexpr std::size_t kMostPanels = 10000;
    constexpr double kNoise = 1e-7, kNoLess = 0.9;  // a small error that halving does not lessen is rounding
    add_up();
    if (!sum_.finite || !(std::abs(sum_.scale) < kInfinity)) {
      sum_.finite = sum_.finite && std::isnan(sum_.scale);
      return;
    }
    auto& heap = sum_.panels;
    const std::size_t most = std::max(kMostPanels, growth * heap.size());
    std::make_heap(heap.begin(), heap.end(), smaller_error);
    double error = sum_.error, scale = sum_.scale;
    while (error > accuracy * scale && sum_.rest.error <= accuracy * scale && heap.size() < most) {
      std::pop_heap(heap.begin(), heap.end(), smaller_error);
      Panel worst = heap.back();
      if (worst.error == 0) break;  // what is left is rounding of the running sum
      heap.pop_back();
      error -= worst.error;
      const double middle = worst.lower + (worst.upper - worst.lower) / 2;
      // The nodes are doubles: what their rounding moves them by is no error of the rule.
      const double grain = 16 * std::numeric_limits<double>::epsilon() * std::abs(middle);
      const bool whole = middle == worst.lower || middle == worst.upper;  // between neighbouring doubles
      if (whole || worst.error * (worst.upper - worst.lower) <= grain * worst.scale) {
        worst.error = 0;
        heap.push_back(worst);
        std::push_heap(heap.begin(), heap.end(), smaller_error);
        continue;
      }
      scale -= worst.scale;
      Panel halves[] = {panel(worst.lower, middle), panel(middle, worst.upper)};
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
    add_up();
    sum_.converged = sum_.error <= 2 * accuracy * sum_.scale;
    std::sort(heap.begin(), heap.end(), [](const Panel& a, const Panel& b) { return a.lower < b.lower; });
  }

 private:
  /// The panels after the last one as a geometric series, of the mean ratio of the last kSpan. It is off by
  /// the error if the ratio goes on to change as it did, which is rounding at least.
  void end_like_a_power() {
    constexpr double kOne = 1 - 1e-9;
    const Panel* last = &sum_.panels.back();
    const auto mean_ratio = [](const Panel* to) {
      return std::pow(to->scale / (to - kSpan)->scale, 1.0 / kSpan);
    };
    const double ratio = std::isinf(last->scale) ? kInfinity : mean_ratio(last);
    if (!(ratio < kOne)) {
      sum_.finite = false;
      return;
    }
    const double factor = ratio / (1 - ratio), change = std::abs(ratio - mean_ratio(last - kSpan)) / kSpan;
    sum_.rest.value += factor * last->value;
    sum_.rest.scale += factor * last->scale;
    sum_.rest.error += factor * last->scale * change / ((1 - ratio) * (1 - ratio));
  }

  void add_up() {
    sum_.value = sum_.rest.value;
    sum_.error = sum_.rest.error;
    sum_.scale = sum_.rest.scale;
    for (const Panel& part : sum_.panels) {
      sum_.value += part.value;
      sum_.error += part.error;
      sum_.scale += part.scale;
    }
  }

  FunctionRef<double(double)> f_;
  PanelSum& sum_;
  double bound_;
};

/// The centres from t on; they are sorted.
std::span<const Centre> from_on(std::span<const Centre> centres, double t) {
  const auto first =
      std::lower_bound(centres.begin(), centres.end(), t, [](const Centre& c, double x) { return c.at < x; });
  return {first, centres.end()};
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
    for (auto t = std::lower_bound(at.begin(), at.end(), piece.lower()); t != at.end() && piece.contains(*t);
         ++t)
      centres.push_back(make_centre(log_density, *t, piece));
    if (centres.size() == before) {
      const double lower = std::max(piece.lower(), -0x1p1000), upper = std::min(piece.upper(), 0x1p1000);
      centres.push_back(make_centre(log_density, lower + (upper - lower) / 2, piece));
    }
  }
  return centres;
}

PanelSum integrate_panels(FunctionRef<double(double)> f, std::span<const Interval> pieces,
                          std::span<const Centre> centres, double accuracy, double bound) {
  PanelSum sum;
  Builder builder(f, sum, bound);
  for (const Interval& piece : pieces) {
    const std::span<const Centre> here = from_on(centres, piece.lower());
    for (std::size_t i = 0; i < here.size() && piece.contains(here[i].at); ++i) {
      const Centre& c = here[i];
      const bool last = i + 1 == here.size() || !piece.contains(here[i + 1].at);
      const auto between = [](double a, double b) { return a + (b - a) / 2; };
      builder.side(c.at, c.left, -1, i == 0 ? piece.lower() : between(here[i - 1].at, c.at));
      builder.side(c.at, c.right, 1, last ? piece.upper() : between(c.at, here[i + 1].at));
    }
  }
  builder.refine(accuracy, 4);
  return sum;
}

PanelSum integrate_from(FunctionRef<double(double)> f, std::span<const Interval> pieces,
                        std::span<const Panel> panels, double accuracy, double bound) {
  PanelSum sum;
  Builder builder(f, sum, bound);
  for (const Panel& start : panels) sum.panels.push_back(builder.panel(start.lower, start.upper));
  double total = 0;
  for (const Panel& part : sum.panels) total += part.scale;
  const double lower = panels.front().lower, upper = panels.back().upper, half = (upper - lower) / 2;
  const Interval whole(pieces.front().lower(), pieces.back().upper());
  if (std::isinf(whole.lower())) builder.side(lower, half, -1, whole.lower(), total);
  if (std::isinf(whole.upper())) builder.side(upper, half, 1, whole.upper(), total);
  builder.refine(accuracy, 32);
  return sum;
}

PanelSum certified(PanelSum sum, FunctionRef<double(double)> f, std::span<const Interval> pieces,
                   FunctionRef<bool(double)> kept, double accuracy, double bound) {
  constexpr double kShareOfPanels = 0.1;
  if (!sum.finite || std::isnan(sum.value)) return sum;
  const auto from = [&](const std::vector<Panel>& panels) {
    return integrate_from(f, pieces, panels, accuracy, bound);
  };
  return agreed(std::move(sum), accuracy / kShareOfPanels, from, kept);
}

}  // namespace fenchel::detail
