#include "fenchel/core/beta_gaussian_tail.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/erf.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/boost_policy.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
// Past this the incomplete beta function is less accurate, and slower, than the quadrature.
constexpr double kLargestBetaParameter = 40;

using Policy = detail::BoostPolicy;

bool near_gaussian(const BetaGaussianConstants& c) { return std::abs(c.am1) * kLargestBetaParameter < 1; }

double radius(const BetaGaussianConstants& c) { return c.am1 > 0 ? std::sqrt(c.radius2) : kInf; }

/// Student's degrees of freedom, and the square of its scale.
double degrees(const BetaGaussianConstants& c) { return -2 / c.am1 - 1; }
double student_scale2(const BetaGaussianConstants& c) { return -c.radius2 / degrees(c); }

/// Mills' ratio int_x^R p / p(x), by log p(x + h) - log p(x) = log1p(-h (2 x + h) / (radius2 - x^2)) / am1.
double mills_ratio(const BetaGaussianConstants& c, double x) {
  const double room = c.radius2 - x * x;
  // Where the logarithm has fallen by one: h (2 x + h) = 2 * gap, in a form that does not cancel.
  const double gap = c.am1 == 0 ? 1 : room * c.am1 / 2, step = 2 * gap / (x + std::sqrt(x * x + 2 * gap));
  const auto ahead = [&](double u) {
    const double h = u * step, fall = h * (2 * x + h);
    if (c.am1 == 0) return std::exp(-fall / 2);
    const double y = fall / room;
    return y >= 1 ? 0.0 : std::exp(std::log1p(-y) / c.am1);
  };
  const double end = (radius(c) - x) / step;  // most of the mass is within a few steps
  return step * integrate(ahead, 0, end, 1e-15).value;
}

/// log p of the standardised variable.
double log_standard_density(const BetaGaussianConstants& c, double log_sigma, double x) {
  return log_density(c, x * x) + log_sigma;
}

/// log P(X > x) of a Student where x^2 may overflow and its power law is exact to rounding.
double log_power_tail(const BetaGaussianConstants& c, double log_sigma, double x) {
  const double nu = degrees(c);
  return c.log_peak + log_sigma - std::log(-c.radius2) / c.am1 - nu * std::log(x) - std::log(nu);
}
bool in_power_tail(const BetaGaussianConstants& c, double x) {
  return c.am1 < 0 && x > 1e20 * std::sqrt(-c.radius2);
}

}  // namespace

double upper_tail(const BetaGaussianConstants& c, double log_sigma, double x) {
  if (c.am1 == 0) return std::erfc(x / std::numbers::sqrt2) / 2;
  if (x >= radius(c)) return 0;
  if (in_power_tail(c, x)) return std::exp(log_power_tail(c, log_sigma, x));
  if (std::isinf(c.am1)) return (1 - x / radius(c)) / 2;
  if (near_gaussian(c)) {
    return x == 0 ? 0.5 : std::min(0.5, std::exp(log_standard_density(c, log_sigma, x)) * mills_ratio(c, x));
  }
  if (c.am1 > 0) {
    const double shape = 1 + 1 / c.am1;
    return boost::math::ibeta(shape, shape, (1 - x / radius(c)) / 2, Policy());
  }
  const double nu = degrees(c), x2 = x * x / student_scale2(c);
  if (x2 > nu) return boost::math::ibeta(nu / 2, 0.5, nu / (nu + x2), Policy()) / 2;
  // Boost's complement is an arcsine next to 1 at nu = 1, with half of its digits.
  if (x2 < 0.01) return 0.5 - boost::math::ibeta(0.5, nu / 2, x2 / (nu + x2), Policy()) / 2;
  return boost::math::ibetac(0.5, nu / 2, x2 / (nu + x2), Policy()) / 2;
}

double log_upper_tail(const BetaGaussianConstants& c, double log_sigma, double x) {
  if (in_power_tail(c, x)) return log_power_tail(c, log_sigma, x);
  const double tail = upper_tail(c, log_sigma, x);
  if (tail > std::numeric_limits<double>::min() || x >= radius(c) || std::isinf(x)) return std::log(tail);
  return log_standard_density(c, log_sigma, x) + std::log(mills_ratio(c, x));
}

namespace {

/// upper_tail_quantile near alpha = 1: Newton's iteration on log P(X > x), kept in a bracket.
double search_upper_tail(const BetaGaussianConstants& c, double log_sigma, double u) {
  const double target = std::log(u);
  double low = 0, high = radius(c);
  double x = std::numbers::sqrt2 * boost::math::erfc_inv(2 * u, Policy());
  for (int i = 0; i < 100; ++i) {
    if (!(x > low && x < high)) x = std::isinf(high) ? 2 * low + 1 : low + (high - low) / 2;
    const double log_tail = log_upper_tail(c, log_sigma, x), gap = log_tail - target;
    (gap > 0 ? low : high) = x;
    const double step = gap * std::exp(log_tail - log_standard_density(c, log_sigma, x));
    x += step;
    if (std::abs(step) <= 4 * std::numeric_limits<double>::epsilon() * x) break;
  }
  return x;
}

/// Newton's iteration from a start from which it moves one way, until it no longer does.
template <class Step>
double newton_one_way(double x, Step step) {
  for (int i = 0; i < 100; ++i) {
    const double next = x + step(x);
    if (!(std::abs(next - x) > 2 * std::numeric_limits<double>::epsilon() * std::abs(x))) break;
    x = next;
  }
  return x;
}

/// The x with P(|X| < x) = mass <= 1/2, in r = x / sqrt|radius2|: that is concave in r, and its tangent at 0
/// starts below the root.
double centre_quantile(const BetaGaussianConstants& c, double mass) {
  const double other = c.am1 > 0 ? 1 + 1 / c.am1 : degrees(c) / 2,
               beta = boost::math::beta(0.5, other, Policy());
  const auto step = [&](double r) {
    const double y = c.am1 > 0 ? r * r : r * r / (1 + r * r);
    const double slope = 2 / beta * std::exp(std::log1p(c.am1 > 0 ? -r * r : r * r) / c.am1);
    return (mass - boost::math::ibeta(0.5, other, y, Policy())) / slope;
  };
  return std::sqrt(std::abs(c.radius2)) * newton_one_way(mass * beta / 2, step);
}

/// log(tail / u), whose rounding does not grow with the logarithms.
double log_excess(double tail, double u) {
  return tail / u > 0 && tail / u < kInf ? std::log(tail / u) : std::log(tail) - std::log(u);
}

/// alpha > 1: log P is concave in log d of d = (1 - x/R) / 2, and d^a / (a B) bounds P.
double edge_quantile(const BetaGaussianConstants& c, double u) {
  const double a = 1 + 1 / c.am1, log_beta = std::log(boost::math::beta(a, a, Policy()));
  const auto step = [&](double d) {
    const double tail = boost::math::ibeta(a, a, d, Policy());
    const double inverse_slope =
        std::exp(std::log(tail) - a * std::log(d) - (a - 1) * std::log1p(-d) + log_beta);
    return d * std::expm1(-log_excess(tail, u) * inverse_slope);
  };
  return radius(c) * (1 - 2 * newton_one_way(std::exp((std::log(u) + std::log(a) + log_beta) / a), step));
}

/// alpha < 1: log P is concave in log x, and the power law bounds P.
double student_quantile(const BetaGaussianConstants& c, double log_sigma, double u) {
  const double start = std::exp((log_power_tail(c, log_sigma, 1) - std::log(u)) / degrees(c));
  if (in_power_tail(c, start)) return start;
  return newton_one_way(start, [&](double x) {
    const double tail = upper_tail(c, log_sigma, x);
    const double inverse_slope = tail / (x * std::exp(log_standard_density(c, log_sigma, x)));
    return x * std::expm1(log_excess(tail, u) * inverse_slope);
  });
}

}  // namespace

double upper_tail_quantile(const BetaGaussianConstants& c, double log_sigma, double u) {
  if (u == 0) return radius(c);
  if (u == 0.5) return 0;
  if (c.am1 == 0) return std::numbers::sqrt2 * boost::math::erfc_inv(2 * u, Policy());
  if (std::isinf(c.am1)) return radius(c) * (1 - 2 * u);
  if (near_gaussian(c)) return search_upper_tail(c, log_sigma, u);
  if (u > 0.25) return centre_quantile(c, 1 - 2 * u);
  return c.am1 > 0 ? edge_quantile(c, u) : student_quantile(c, log_sigma, u);
}

}  // namespace fenchel
