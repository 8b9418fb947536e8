#include "fenchel/core/quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

#include "core/gauss_kronrod.hpp"

namespace fenchel {
namespace {

using detail::Panel;

/// t(u) dt/du of the double exponential transform of [lower, upper].
class Transform {
 public:
  Transform(double lower, double upper) : lower_(lower), upper_(upper) {}

  /// Beyond it the weight of a bounded integrand is below 1e-30, or |t| past 1e55.
  [[nodiscard]] double reach() const { return std::isinf(lower_) || std::isinf(upper_) ? 5.1 : 3.8; }

  [[nodiscard]] double weighted(FunctionRef<double(double)> f, double u) const {
    const double half_pi = std::numbers::pi / 2, inner = half_pi * std::sinh(u),
                 slope = half_pi * std::cosh(u);
    if (std::isinf(lower_) && std::isinf(upper_)) return times(f(std::sinh(inner)), std::cosh(inner) * slope);
    if (std::isinf(upper_)) return times(f(lower_ + std::exp(inner)), std::exp(inner) * slope);
    if (std::isinf(lower_)) return times(f(upper_ - std::exp(inner)), std::exp(inner) * slope);
    const double width = upper_ - lower_, near = 1 / (1 + std::exp(2 * std::abs(inner)));
    const double t = u < 0 ? lower_ + width * near : upper_ - width * near;
    if (t <= lower_ || t >= upper_) return 0;
    return times(f(t), 2 * width * near * (1 - near) * slope);
  }

 private:
  /// A density that is 0 far out stays 0 where the weight overflows.
  static double times(double value, double weight) { return value == 0 ? 0 : value * weight; }

  double lower_, upper_;
};

Panel panel(const Transform& transform, FunctionRef<double(double)> f, double lower, double upper) {
  return detail::gauss_kronrod([&](double u) { return transform.weighted(f, u); }, lower, upper);
}

}  // namespace

Quadrature integrate(FunctionRef<double(double)> f, double lower, double upper, double accuracy) {
  constexpr index_t kFirstPanels = 4, kEvaluationsPerPanel = 15, kMaxPanels = 4000;
  constexpr double kRoundoff = 5 * std::numeric_limits<double>::epsilon();
  if (lower == upper) return {.converged = true};
  const Transform transform(lower, upper);
  const double reach = transform.reach();

  // What is cut off is no more than the integrand at the ends, which falls double exponentially.
  const double ends = std::abs(transform.weighted(f, -reach)) + std::abs(transform.weighted(f, reach));

  std::vector<Panel> heap;
  for (index_t i = 0; i < kFirstPanels; ++i) {
    const double step = 2 * reach / kFirstPanels, start = -reach + static_cast<double>(i) * step;
    heap.push_back(panel(transform, f, start, start + step));
  }
  std::make_heap(heap.begin(), heap.end(), detail::smaller_error);

  Quadrature sum;
  for (index_t panels = kFirstPanels;; ++panels) {
    sum = {};
    for (const Panel& part : heap) {
      sum.value += part.value;
      sum.error += part.error;
      sum.scale += part.scale;
    }
    sum.evaluations = kEvaluationsPerPanel * (2 * panels - kFirstPanels);
    sum.converged = std::max(sum.error, ends) <= std::max(accuracy, kRoundoff) * sum.scale;
    if (sum.converged || std::isnan(sum.value) || panels >= kMaxPanels) return sum;

    std::pop_heap(heap.begin(), heap.end(), detail::smaller_error);
    const Panel worst = heap.back();
    heap.pop_back();
    const double middle = worst.lower + (worst.upper - worst.lower) / 2;
    if (middle <= worst.lower || middle >= worst.upper) return sum;
    for (const Panel& part :
         {panel(transform, f, worst.lower, middle), panel(transform, f, middle, worst.upper)}) {
      heap.push_back(part);
      std::push_heap(heap.begin(), heap.end(), detail::smaller_error);
    }
  }
}

}  // namespace fenchel
