#include "fenchel/core/quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "core/quadrature/double_exponential.hpp"
#include "core/quadrature/gauss_kronrod.hpp"
#include "core/quadrature/second_rule.hpp"

namespace fenchel {
namespace {

using detail::DoubleExponential, detail::Panel;

struct Sum : Quadrature {
  std::vector<Panel> panels;  ///< in order
};

/// The integral over panels in the double exponential variable, of which the worst is halved until their sum
/// is accurate.
class AdaptiveIntegral {
 public:
  AdaptiveIntegral(FunctionRef<double(double)> f, double lower, double upper, double accuracy)
      : f_(f), transform_(lower, upper), accuracy_(accuracy) {}

  /// From so many panels of equal width on.
  [[nodiscard]] Sum from_equal(index_t count) const {
    const double reach = transform_.reach(), step = 2 * reach / static_cast<double>(count);
    const auto end = [&](index_t i) { return -reach + static_cast<double>(i) * step; };
    std::vector<Panel> made;
    for (index_t i = 0; i < count; ++i) made.push_back({end(i), end(i + 1), 0, 0, 0});
    return from(std::move(made));
  }

  [[nodiscard]] Sum from(std::vector<Panel> panels) const {
    constexpr index_t kEvaluationsPerPanel = 15;
    constexpr std::size_t kMostPanels = 4000;
    constexpr double kRoundoff = 5 * std::numeric_limits<double>::epsilon();
    const std::size_t first = panels.size(), most = std::max(kMostPanels, 2 * first);
    // What is cut off is no more than the integrand at the ends, which falls double exponentially.
    const double reach = transform_.reach();
    const double ends = std::abs(transform_.weighted(f_, -reach)) + std::abs(transform_.weighted(f_, reach));
    for (Panel& part : panels) part = rule(part.lower, part.upper);
    std::make_heap(panels.begin(), panels.end(), detail::smaller_error);

    Quadrature sum;
    for (;;) {
      sum = {};
      for (const Panel& part : panels) {
        sum.value += part.value;
        sum.error += part.error;
        sum.scale += part.scale;
      }
      sum.evaluations = kEvaluationsPerPanel * static_cast<index_t>(2 * panels.size() - first);
      sum.converged = std::max(sum.error, ends) <= std::max(accuracy_, kRoundoff) * sum.scale;
      if (sum.converged || std::isnan(sum.value) || panels.size() >= most) break;

      std::pop_heap(panels.begin(), panels.end(), detail::smaller_error);
      const Panel worst = panels.back();
      const double middle = worst.lower + (worst.upper - worst.lower) / 2;
      if (middle <= worst.lower || middle >= worst.upper) break;
      panels.pop_back();
      for (const Panel& part : {rule(worst.lower, middle), rule(middle, worst.upper)}) {
        panels.push_back(part);
        std::push_heap(panels.begin(), panels.end(), detail::smaller_error);
      }
    }
    std::sort(panels.begin(), panels.end(), [](const Panel& a, const Panel& b) { return a.lower < b.lower; });
    return {sum, std::move(panels)};
  }

 private:
  [[nodiscard]] Panel rule(double lower, double upper) const {
    return detail::gauss_kronrod([&](double u) { return transform_.weighted(f_, u); }, lower, upper);
  }

  FunctionRef<double(double)> f_;
  DoubleExponential transform_;
  double accuracy_;
};

}  // namespace

Quadrature integrate(FunctionRef<double(double)> f, double lower, double upper, double accuracy) {
  constexpr index_t kFirstPanels = 4;
  if (lower == upper) return {.converged = true};
  return AdaptiveIntegral(f, lower, upper, accuracy).from_equal(kFirstPanels);
}

Quadrature integrate_twice(FunctionRef<double(double)> f, double lower, double upper, double accuracy,
                           index_t first_panels) {
  if (lower == upper) return {.converged = true};
  const AdaptiveIntegral integral(f, lower, upper, accuracy);
  return detail::agreed(
      integral.from_equal(first_panels), accuracy,
      [&](std::vector<Panel> panels) { return integral.from(std::move(panels)); },
      [](double) { return false; });
}

}  // namespace fenchel
