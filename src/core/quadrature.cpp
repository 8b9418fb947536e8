#include "fenchel/core/quadrature.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <vector>

namespace fenchel {
namespace {

// Kronrod's nodes on [0, 1] and both rules' weights; Gauss's nodes are every second one [R. Piessens et al.,
// QUADPACK (1983), QK15].
constexpr double kNode[8] = {0.991455371120812639206854697526329, 0.949107912342758524526189684047851,
                             0.864864423359769072789712788640926, 0.741531185599394439863864773280788,
                             0.586087235467691130294144691693013, 0.405845151377397166906606412076961,
                             0.207784955007898467600689403773245, 0.000000000000000000000000000000000};
constexpr double kKronrod[8] = {0.022935322010529224963732008058970, 0.063092092629978553290700663189204,
                                0.104790010322250183839876322541518, 0.140653259715525918745189590510238,
                                0.169004726639267902826583426598550, 0.190350578064785409913256402421014,
                                0.204432940075298892414161999234649, 0.209482141084727828012999174891714};
constexpr double kGauss[4] = {0.129484966168869693270611432679082, 0.279705391489276667901467771423780,
                              0.381830050505118944950369775488975, 0.417959183673469387755102040816327};

struct Panel {
  double lower, upper, value, error, scale;
  friend bool operator<(const Panel& a, const Panel& b) { return a.error < b.error; }
};

/// t(u) dt/du of the double exponential transform of [lower, upper].
class Transform {
 public:
  Transform(double lower, double upper) : lower_(lower), upper_(upper) {}

  /// Beyond it the weight of a bounded integrand is below 1e-30, or |t| past 1e55.
  [[nodiscard]] double reach() const { return std::isinf(lower_) || std::isinf(upper_) ? 5.1 : 3.8; }

  double weighted(FunctionRef<double(double)> f, double u) const {
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
  const double half = (upper - lower) / 2, middle = lower + half;
  double left[7], right[7];
  const double centre = transform.weighted(f, middle);
  double kronrod = kKronrod[7] * centre, gauss = kGauss[3] * centre, scale = kKronrod[7] * std::abs(centre);
  for (int i = 0; i < 7; ++i) {
    left[i] = transform.weighted(f, middle - half * kNode[i]);
    right[i] = transform.weighted(f, middle + half * kNode[i]);
    kronrod += kKronrod[i] * (left[i] + right[i]);
    scale += kKronrod[i] * (std::abs(left[i]) + std::abs(right[i]));
    if (i % 2 == 1) gauss += kGauss[i / 2] * (left[i] + right[i]);
  }
  double spread = kKronrod[7] * std::abs(centre - kronrod / 2);
  for (int i = 0; i < 7; ++i)
    spread += kKronrod[i] * (std::abs(left[i] - kronrod / 2) + std::abs(right[i] - kronrod / 2));
  double error = std::abs(kronrod - gauss);
  if (spread > 0 && error > 0) error = spread * std::min(1.0, std::pow(200 * error / spread, 1.5));
  return {lower, upper, half * kronrod, half * error, half * scale};
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
  std::make_heap(heap.begin(), heap.end());

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

    std::pop_heap(heap.begin(), heap.end());
    const Panel worst = heap.back();
    heap.pop_back();
    const double middle = worst.lower + (worst.upper - worst.lower) / 2;
    if (middle <= worst.lower || middle >= worst.upper) return sum;
    for (const Panel& part :
         {panel(transform, f, worst.lower, middle), panel(transform, f, middle, worst.upper)}) {
      heap.push_back(part);
      std::push_heap(heap.begin(), heap.end());
    }
  }
}

}  // namespace fenchel
