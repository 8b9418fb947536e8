#include "fenchel/core/quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "core/quadrature/double_exponential.hpp"
#include "core/quadrature/gauss_kronrod.hpp"

namespace fenchel {
namespace {

using detail::DoubleExponential, detail::Panel;

Panel panel(const DoubleExponential& transform, FunctionRef<double(double)> f, double lower, double upper) {
  return detail::gauss_kronrod([&](double u) { return transform.weighted(f, u); }, lower, upper);
}

}  // namespace

Quadrature integrate(FunctionRef<double(double)> f, double lower, double upper, double accuracy) {
  constexpr index_t kFirstPanels = 4, kEvaluationsPerPanel = 15, kMaxPanels = 4000;
  constexpr double kRoundoff = 5 * std::numeric_limits<double>::epsilon();
  if (lower == upper) return {.converged = true};
  const DoubleExponential transform(lower, upper);
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
