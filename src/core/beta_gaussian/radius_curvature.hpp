#pragma once

#include <cmath>

#include "core/beta_gaussian/constant_jets.hpp"
#include "core/beta_gaussian/radius_slope.hpp"
#include "core/gamma_ratio_derivatives.hpp"
#include "core/hd_long.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/deformed.hpp"

/// The second derivative in alpha of a radius of fixed probability on the line, for host and GPU. A radius r
/// = unit(alpha) v, where v has a density g(v; alpha) whose tail T(v) = int_v g is fixed: with h = d log g /
/// dalpha and A = d log v / dalpha,
///   v'' / v = (d2T/dalpha2) / (v g) - 2 h A - (v g' / g) A^2     (docs/math.md 5.6).
namespace fenchel::detail {

/// That of v, plus that of the unit, whose logarithm has the derivatives first and second.
FENCHEL_HD inline double with_unit(double first, double second, double a, double v_curvature) {
  return second + first * first + 2 * first * a + v_curvature;
}

/// With v = w = r e^{-z/2}, as in slope_from_centre.
template <class Integrate>
FENCHEL_HD_LONG double curvature_from_centre(double log_det, double alpha, double q, double slope,
                                             const Integrate& integrate) {
  const ConstantJets jets(1, log_det, alpha);
  const double am1 = alpha - 1, w2 = q * std::exp(-jets.z.value), w = std::sqrt(w2), room = 1 - am1 * w2 / 2;
  const double norm = jets.log_peak.gradient[2] + jets.z.gradient[2] / 2,
               norm_slope = jets.log_peak.hessian[5] + jets.z.hessian[5] / 2;
  const auto rate = [&](double v2) { return norm + log_deformed_exp_alpha_derivative(am1, -v2 / 2); };
  const auto second = [&](double v2) {  // of the density, over itself
    return rate(v2) * rate(v2) + norm_slope + log_deformed_exp_alpha_curvature(am1, -v2 / 2);
  };
  double tail;
  if (w2 <= 1) {
    tail = -integrate(
        [&](double u) {
          return std::exp(log_deformed_exp(am1, w2 * (1 - u * u) / (2 * room))) * second(w2 * u * u);
        },
        0, 1);
  } else {
    const double step = 2 * room / (w + std::sqrt(w2 + 2 * room));
    const auto beyond = [&](double k) {
      const double v = w + k * step;
      const double weight = std::exp(log_deformed_exp(am1, -k * step * (w + v) / (2 * room)));
      return weight == 0 || am1 * (v * v / 2) >= 1 ? 0.0 : weight * second(v * v);
    };
    tail = step / w * integrate(beyond, 0, am1 > 0 ? (std::sqrt(2 / am1) - w) / step : kInfinity);
  }
  const double first = jets.z.gradient[2] / 2, a = slope - first;
  return with_unit(first, jets.z.hessian[5] / 2, a, tail - 2 * rate(w2) * a + w2 / room * a * a);
}

/// With v = x = r / sqrt(radius2), as in slope_from_edge: of density proportional to (1 - x^2)^s, s = 1 /
/// am1.
template <class Integrate>
FENCHEL_HD_LONG double curvature_from_edge(double log_det, double alpha, double q, double slope,
                                           const Integrate& integrate) {
  constexpr double kAtEdge = 1e-14;
  const Jet log_radius2 = log_radius2_jet(1, log_det, alpha);
  const double am1 = alpha - 1, s = 1 / am1, x2 = q * std::exp(-log_radius2.value), x = std::sqrt(x2);
  const double gap = (1 - x) * (1 + x), first = log_radius2.gradient[2] / 2,
               second = log_radius2.hessian[5] / 2;
  if (!(gap > kAtEdge)) return second + first * first;
  // of log(1 - x^2) under the density, times s^2
  const GammaRatioDerivatives d = log_gamma_ratio_derivatives(1, am1);
  const double mean = -digamma_difference(1, 1 + s), variance = 0.5 - am1 * (2 * d.first + am1 * d.second);
  const auto ratio = [&](double fall) {
    const double rate = s * (fall - mean);
    return std::exp(s * (fall - std::log(gap))) * (rate * rate - variance);
  };
  double tail;
  if (x2 <= 0.5) {
    tail = -integrate([&](double u) { return ratio(std::log1p(-u * u * x2)); }, 0, 1);
  } else {
    const auto beyond = [&](double u) {  // u of the way from the edge to x
      const double inset = u * (1 - x);
      return u == 0 ? 0.0 : ratio(std::log(inset * (2 - inset)));
    };
    tail = (1 - x) / x * integrate(beyond, 0, 1);
  }
  const double a = slope - first, rate = -s * s * (std::log(gap) - mean);
  const double curvature = s * s * tail - 2 * rate * a + 2 * s * x2 / gap * a * a - 2 * s * a;
  return with_unit(first, second, a, curvature);
}

/// (d2r / dalpha2) / r of r^2 = q at a fixed probability of the ball, from slope = d log r / dalpha.
template <class Integrate>
FENCHEL_HD double radius_curvature(double log_det, double alpha, double q, double slope,
                                   const Integrate& integrate) {
  if (std::isinf(alpha)) return 0;
  return alpha - 1 > kFromEdge ? curvature_from_edge(log_det, alpha, q, slope, integrate)
                               : curvature_from_centre(log_det, alpha, q, slope, integrate);
}

}  // namespace fenchel::detail
