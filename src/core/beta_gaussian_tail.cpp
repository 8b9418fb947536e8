#include "fenchel/core/beta_gaussian_tail.hpp"

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

}  // namespace

double upper_tail(const BetaGaussianConstants& c, double log_sigma, double x) {
  if (c.am1 == 0) return std::erfc(x / std::numbers::sqrt2) / 2;
  if (x >= radius(c)) return 0;
  if (std::isinf(c.am1)) return (1 - x / radius(c)) / 2;
  if (near_gaussian(c)) {
    return x == 0 ? 0.5 : std::exp(log_standard_density(c, log_sigma, x)) * mills_ratio(c, x);
  }
  if (c.am1 > 0) {
    const double shape = 1 + 1 / c.am1;
    return boost::math::ibeta(shape, shape, (1 - x / radius(c)) / 2, Policy());
  }
  const double nu = degrees(c), x2 = x * x / student_scale2(c);
  if (x2 > nu) return boost::math::ibeta(nu / 2, 0.5, nu / (nu + x2), Policy()) / 2;
  return boost::math::ibetac(0.5, nu / 2, x2 / (nu + x2), Policy()) / 2;
}

double log_upper_tail(const BetaGaussianConstants& c, double log_sigma, double x) {
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

}  // namespace

double upper_tail_quantile(const BetaGaussianConstants& c, double log_sigma, double u) {
  if (u == 0) return radius(c);
  if (u == 0.5) return 0;
  if (c.am1 == 0) return std::numbers::sqrt2 * boost::math::erfc_inv(2 * u, Policy());
  if (std::isinf(c.am1)) return radius(c) * (1 - 2 * u);
  if (near_gaussian(c)) return search_upper_tail(c, log_sigma, u);
  double other = 0;
  if (c.am1 > 0) {
    // x^2 / R^2 ~ Beta(1/2, 1 + s) keeps its digits at the centre, (1 - x/R)/2 ~ Beta(1 + s, 1 + s) at the
    // edge.
    const double shape = 1 + 1 / c.am1;
    if (u > 0.25)
      return radius(c) * std::sqrt(boost::math::ibeta_inv(0.5, shape, 1 - 2 * u, &other, Policy()));
    return radius(c) * (1 - 2 * boost::math::ibeta_inv(shape, shape, u, &other, Policy()));
  }
  const double nu = degrees(c);
  if (u > 0.25) {
    const double y = boost::math::ibeta_inv(0.5, nu / 2, 1 - 2 * u, &other, Policy());
    return std::sqrt(student_scale2(c) * nu * y / other);
  }
  const double y = boost::math::ibeta_inv(nu / 2, 0.5, 2 * u, &other, Policy());
  return std::sqrt(student_scale2(c) * nu * other / y);
}

}  // namespace fenchel
