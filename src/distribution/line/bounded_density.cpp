#include "distribution/line/bounded_density.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "core/ordered_bits.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

double bounded_integral(FunctionRef<double(double)> f, const Interval& interval, double cut) {
  Quadrature sum = {.converged = true};
  const auto add = [&](double lower, double upper) {
    const Quadrature part = integrate(f, lower, upper, kBoundedAccuracy);
    sum.value += part.value;
    sum.error += part.error;
    sum.scale += part.scale;
  };
  const double middle = std::clamp(cut, interval.lower(), interval.upper());
  add(interval.lower(), middle);
  add(middle, interval.upper());
  if (!(sum.error <= kBoundedAccepted * sum.scale))
    throw ConvergenceError(error_message("bounded_integral", "the estimated relative error",
                                         "must reach the accuracy", sum.error / sum.scale));
  return sum.value;
}

double bounded_tsallis_entropy(FunctionRef<double(double)> log_pdf, const Interval& support, double centre,
                               double order) {
  constexpr double kNear = 0.5;  // an order this near to 1 takes the form that does not cancel there
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  const double log_peak = log_pdf(centre), om1 = order - 1;
  if (std::isinf(order)) return log_peak > 0 ? -kInfinity : 0;
  // log of the mean of (p / peak)^om1 under p, over om1
  double mean_log = log_peak;
  if (std::abs(om1) <= kNear) {
    const auto integrand = [&](double t) {
      const double l = log_pdf(t);
      return std::isinf(l) ? 0 : std::exp(l) * deformed_log_of_exp(om1, l - log_peak);
    };
    mean_log += log_deformed_exp(om1, bounded_integral(integrand, support, centre));
  } else {
    const auto integrand = [&](double t) { return std::exp(order * (log_pdf(t) - log_peak) + log_peak); };
    mean_log += std::log(bounded_integral(integrand, support, centre)) / om1;
  }
  return 0.0 - deformed_log_of_exp(om1, mean_log) / order;
}

namespace {

/// The double that has as many doubles below it in [lower, upper] as above it.
double middle_double(double lower, double upper) {
  return detail::from_ordered_bits(std::midpoint(detail::ordered_bits(lower), detail::ordered_bits(upper)));
}

}  // namespace

double increasing_root(FunctionRef<ValueAndSlope(double)> f, double lower, double upper, double start) {
  constexpr int kMaxSteps = 200, kOrdinary = 100;  // then ends of very different sizes are halved by doubles
  constexpr double kTolerance = 2 * std::numeric_limits<double>::epsilon();
  double x = std::clamp(start, lower, upper), last_step = upper - lower;
  for (int k = 0; k < kMaxSteps; ++k) {
    const auto [value, slope] = f(x);
    if (value == 0) return x;
    (value < 0 ? lower : upper) = x;
    double next = x - value / slope;
    if (k >= kOrdinary) {
      next = middle_double(lower, upper);
    } else if (!(next >= lower && next <= upper) || std::abs(next - x) > last_step / 2) {
      next = std::midpoint(lower, upper);
    }
    last_step = std::abs(next - x);
    if (last_step <= kTolerance * std::max(std::abs(x), std::abs(next)) || next == lower || next == upper)
      return next;
    x = next;
  }
  return x;
}

}  // namespace fenchel::detail
