#include "attention/characteristic_function.hpp"

#include <algorithm>
#include <boost/math/special_functions/bessel.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/boost_policy.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel::detail {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kNothing = 40;              // exp(-40) is left out
constexpr double kSlopeByQuadrature = 0.01;  // closer to 1 the derivative in alpha is left to quadrature

/// Gamma(nu + 1) (2 / k)^nu J_nu(k) = sum_n (-k^2 / 4)^n / (n! (nu + 1)_n).
double bessel(double nu, double k) {
  const double x = k * k / 4;
  if (x <= nu + 1) {
    double sum = 1, term = 1;
    for (int n = 1; n < 40 && std::abs(term) > 1e-18; ++n) sum += term *= -x / (n * (nu + n));
    return sum;
  }
  const double j = boost::math::cyl_bessel_j(nu, k, BoostPolicy());
  return j == 0
             ? 0
             : std::copysign(std::exp(std::lgamma(nu + 1) - nu * std::log(k / 2) + std::log(std::abs(j))), j);
}

/// The same with k times its derivative, for a large nu: the mean of cos(k sin u) under cos(u)^{2 nu}, by the
/// trapezoidal rule, whose error falls faster than any power of the step.
CharacteristicFunction poisson_integral(double nu, double k) {
  const double step = 2 * std::numbers::pi / (k + 15 * std::sqrt(nu));
  const double end = std::min(std::numbers::pi / 2, std::sqrt(kNothing / nu));
  double mass = 0.5, value = 0.5, slope = 0;
  for (double u = step; u < end; u += step) {
    const double half = std::sin(u / 2), weight = std::exp(2 * nu * std::log1p(-2 * half * half));
    const double phase = k * std::sin(u);
    mass += weight;
    value += weight * std::cos(phase);
    slope -= weight * phase * std::sin(phase);
  }
  return {value / mass, slope / mass, kNaN};
}

CharacteristicFunction compact(double nu, double k) {
  constexpr double kLargeOrder = 100;  // beyond, J underflows before its k
  // before its first zero, which is beyond nu, it is at most exp(-k^2 / (4 nu + 4))
  if (nu > kLargeOrder && k <= nu && k * k / (4 * nu + 4) > kNothing) return {0, 0, kNaN};
  if (nu > kLargeOrder && k <= nu) return poisson_integral(nu, k);
  return {bessel(nu, k), -k * k / (2 * nu + 2) * bessel(nu + 1, k), kNaN};
}

/// Student's t is a Gaussian whose variance is over a Gamma(eta) variable eta e^y: with b = (frequency
/// scale)^2 / (4 eta) it is the mean of exp(-b e^{-y}) under exp(eta (y - e^y)), by the trapezoidal rule. All
/// terms are positive; the derivative in eta at fixed b is a covariance, of differences that do not cancel.
CharacteristicFunction student(const BetaGaussian& p, double frequency) {
  const BetaGaussianConstants& c = p.constants();
  const double k = -c.am1, eta = 1 / k - 0.5;
  const double wave = frequency * std::sqrt(p.sigma2()), b = -wave * wave * c.radius2 / (4 * eta);
  // -log of it is at least the smaller of b / 2 and 3/4 sqrt(eta b)
  if (!(std::min(b / 2, 0.75 * std::sqrt(eta * b)) < kNothing)) return {0, 0, 0};
  const double step = 0.5 / std::sqrt(6 + eta + 2 * std::sqrt(eta * b));
  const double reach = std::sqrt(2 * kNothing / eta), centre = b < 700 ? std::exp(-b) : 0;
  double mass = 0, excess = 0, slope = 0, log_mean = 0, mixed = 0;
  const auto lowest = static_cast<long>((-reach - kNothing / eta) / step);
  for (long i = lowest; static_cast<double>(i) * step < reach; ++i) {
    const double y = static_cast<double>(i) * step;
    const double log_weight = -y * y * (exp_moment<0>(y) - exp_moment<1>(y));  // y - expm1(y)
    const double weight = std::exp(eta * log_weight), rate = b * std::exp(-y);
    const double difference =  // exp(-rate) - centre
        centre > 0 ? centre * std::expm1(-b * std::expm1(-y)) : std::exp(-rate);
    mass += weight;
    excess += weight * difference;
    slope -= weight * 2 * rate * std::exp(-rate);
    log_mean += weight * log_weight;
    mixed += weight * log_weight * difference;
  }
  const double value = centre + excess / mass, log_scale = slope / mass;
  if (k < kSlopeByQuadrature) return {value, log_scale, kNaN};
  const double in_eta = (mixed - excess * (log_mean / mass)) / mass;
  const double log_b_rate = alpha_derivatives(c).log_peak_power - 1 / (2 - k);
  return {value, log_scale, in_eta / (k * k) + log_scale / 2 * log_b_rate};
}

}  // namespace

CharacteristicFunction characteristic_function(const BetaGaussian& p, double frequency) {
  const double am1 = p.constants().am1;
  if (frequency == 0) return {1, 0, 0};
  if (am1 == 0) {
    const double x = frequency * frequency * p.sigma2();
    return {std::exp(-x / 2), x == 0 ? 0 : -x * std::exp(-x / 2), kNaN};
  }
  return am1 < 0 ? student(p, frequency) : compact(1 / am1 + 0.5, frequency * p.half_width());
}

}  // namespace fenchel::detail
