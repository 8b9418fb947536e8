#pragma once

#include <cmath>
#include <limits>

#include "core/hd_long.hpp"
#include "core/quadrature/double_exponential.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/infinity.hpp"

/// How the radius of a ball of fixed probability moves with alpha, for host and GPU.
namespace fenchel::detail {

/// Past this am1 the radius is taken relative to the edge of the support, before it relative to e^{z/2}: the
/// first does not exist at alpha = 1, the second lets the density's derivative have a pole at the edge.
inline constexpr double kFromEdge = 0.5;

/// d log r / dalpha of r^2 = q at a fixed probability of the ball, with w = r e^{-z/2} of density
/// proportional to w^{n-1} exp(log1p(-am1 w^2 / 2) / am1).
template <class Integrate>
FENCHEL_HD_LONG double slope_from_centre(const BetaGaussianConstants& c, double q,
                                         const Integrate& integrate) {
  const BetaGaussianAlphaDerivatives d = alpha_derivatives(c);
  const double n = static_cast<double>(c.dimension), w2 = q / c.peak_power, w = std::sqrt(w2);
  const double room = 1 - c.am1 * w2 / 2;
  const auto slope = [&](double v2) {  // of the log density at v
    return d.log_peak + n / 2 * d.log_peak_power + log_deformed_exp_alpha_derivative(c.am1, -v2 / 2);
  };
  double inner;
  if (w2 <= n) {  // less the mass within, relative to the density
    const auto within = [&](double u) {
      const double rise = log_deformed_exp(c.am1, w2 * (1 - u * u) / (2 * room));
      return (n == 1 ? 1 : std::pow(u, n - 1)) * std::exp(rise) * slope(w2 * u * u);
    };
    inner = -integrate(within, 0, 1);
  } else {  // the mass beyond, in units over which the density falls
    const double step = 2 * room / (w + std::sqrt(w2 + 2 * room));
    const auto beyond = [&](double k) {
      const double h = k * step, v = w + h;
      const double weight = std::exp(log_deformed_exp(c.am1, -h * (w + v) / (2 * room)));
      return weight == 0 || c.am1 * (v * v / 2) >= 1
                 ? 0.0
                 : (n == 1 ? 1 : std::pow(v / w, n - 1)) * weight * slope(v * v);
    };
    const double end = c.am1 > 0 ? (std::sqrt(2 / c.am1) - w) / step : kInfinity;
    inner = step / w * integrate(beyond, 0, end);
  }
  return d.log_peak_power / 2 + inner;
}

/// digamma(x + n/2) - digamma(x), the derivative of a sum of logarithms and, for odd n, of log_half_step(x).
FENCHEL_HD inline double digamma_difference(index_t n, double x) noexcept {
  double sum = n % 2 == 1 ? half_step_slope(x) / (x * x) + 0.5 / x : 0;
  for (double k = n % 2 == 1 ? 0.5 : 0; 2 * k + 1 < static_cast<double>(n); ++k) sum += 1 / (x + k);
  return sum;
}

/// The same with x = r / sqrt(radius2), of density proportional to x^{n-1} (1 - x^2)^s, s = 1 / am1.
template <class Integrate>
FENCHEL_HD_LONG double slope_from_edge(const BetaGaussianConstants& c, double q, const Integrate& integrate) {
  const double n = static_cast<double>(c.dimension), am1 = c.am1, s = 1 / am1, width = 2 + n * am1;
  const double mean_log = -digamma_difference(c.dimension, 1 + s);  // of 1 - x^2
  // log(radius2 / 2) = -2 (am1 free) / width - 2 log(am1) / width, free = log det(2 pi Sigma) / 2 - log of
  // the gammas.
  const double free = -c.log_peak * width / 2 + n / 2 * std::log(am1);
  const double log_radius = (-2 * free + n * std::log(am1)) / (width * width) + (mean_log * s - s) / width;
  const double x2 = q / c.radius2, x = std::sqrt(x2), gap = (1 - x) * (1 + x);
  double inner;  // d log x / ds
  if (x2 <= 0.5) {
    const auto within = [&](double u) {
      const double fall = std::log1p(-u * u * x2);
      return (n == 1 ? 1 : std::pow(u, n - 1)) * std::exp(s * (fall - std::log(gap))) * (fall - mean_log);
    };
    inner = -integrate(within, 0, 1);
  } else {
    const auto beyond = [&](double u) {  // u of the way from the edge to x
      if (u == 0) return 0.0;
      const double inset = u * (1 - x), fall = std::log(inset * (2 - inset));
      return (n == 1 ? 1 : std::pow((1 - inset) / x, n - 1)) * std::exp(s * (fall - std::log(gap))) *
             (fall - mean_log);
    };
    inner = (1 - x) / x * integrate(beyond, 0, 1);
  }
  return log_radius - s * s * inner;
}

/// log_radius_alpha_slope by integrate(f, lower, upper).
template <class Integrate>
FENCHEL_HD double radius_slope(const BetaGaussianConstants& c, double q, const Integrate& integrate) {
  if (!(q >= 0) || (c.am1 > 0 && q >= c.radius2)) return std::numeric_limits<double>::quiet_NaN();
  if (std::isinf(c.am1)) return 0;
  return c.am1 > kFromEdge ? slope_from_edge(c, q, integrate) : slope_from_centre(c, q, integrate);
}

/// Rules without adaptation for those integrals, which leave kRadiusSlopeError (1 + |slope|).
inline constexpr double kRadiusSlopeError = 1e-13;
struct RadiusRule {
  static constexpr int kNodes = 121;
  static constexpr double kHeavy = -0.3;  ///< am1 below it are powers
  static constexpr double kFarEnd = 12;   ///< of a density that falls by e in a unit, and is flat at its end
  double am1;

  template <class F>
  FENCHEL_HD double operator()(const F& f, double lower, double upper) const {
    if (upper > kFarEnd && am1 > kHeavy) return exponential_decay_rule<kNodes>(f);
    return double_exponential_rule<kNodes>(f, lower, upper);
  }
};

}  // namespace fenchel::detail
