#include "fenchel/core/gamma_ratio.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>

namespace fenchel {
namespace {

/// Orders this near to 1 take quotients that do not cancel there.
constexpr double kNear = 0.25;

/// log1p(x d) / d, x at d = 0.
double log1p_quotient(double x, double d) { return d == 0 ? x : std::log1p(x * d) / d; }

/// (D_1(am1) - D_1(am1 / order)) / (order - 1): near order 1 as the mean of D_1' between the two, times am1 /
/// order. D_1 has its nearest singularity at am1 = -1, or -2 for am1 < 0: ten nodes are exact to rounding.
double half_difference(double am1, double order) {
  if (std::abs(order - 1) > kNear)
    return (detail::log_gamma_ratio_1(am1) - detail::log_gamma_ratio_1(am1 / order)) / (order - 1);
  const double other = am1 / order, middle = (am1 + other) / 2, half = (am1 - other) / 2;
  const auto slope = [&](double x) { return detail::log_gamma_ratio_slope_1(middle + half * x); };
  return other * boost::math::quadrature::gauss<double, 10>::integrate(slope, -1.0, 1.0) / 2;
}

}  // namespace

double log_power_mass_slope(index_t n, double am1, double order) {
  constexpr double kSmallExponent = 16;
  if (std::isinf(am1)) return 0;
  const double d = order - 1, half_n = static_cast<double>(n) / 2;
  if (order < 1 - kNear && am1 > 0 && order < kSmallExponent * am1) {
    const double q = order / am1;
    return (log_gamma_ratio(n, am1) - half_n * std::log(am1) - std::lgamma(half_n + 1 + q) +
            std::lgamma(1 + q)) /
           d;
  }
  double sum = n % 2 == 1 ? half_difference(am1, order) : 0;
  for (double k = n % 2 == 1 ? 1.5 : 1; k <= half_n; ++k)
    sum += log1p_quotient(k * am1 / (order + k * am1), d);
  return sum - half_n * log1p_quotient(1, d);
}

}  // namespace fenchel
