#pragma once

#include <array>
#include <cmath>

#include "core/beta_gaussian/conjugate.hpp"
#include "core/beta_gaussian/constant_jets.hpp"
#include "core/beta_gaussian/line_tail.hpp"
#include "core/beta_gaussian/radius.hpp"
#include "core/beta_gaussian/radius_curvature.hpp"
#include "core/beta_gaussian/radius_slope.hpp"
#include "core/hd_long.hpp"

/// The distribution function and the quantile of the line with their derivatives, and with them all of
/// fenchel/core/beta_gaussian_jet.hpp, for host and GPU.
namespace fenchel::detail {

FENCHEL_HD inline double quantile_value(const BetaGaussianConstants& c, double u) {
  if (!(u >= 0 && u <= 1)) return kNaN;
  const double distance = line_tail_quantile(c, u <= 0.5 ? u : 1 - u);
  return u <= 0.5 ? -distance : distance;
}

FENCHEL_HD inline double cdf_value(const BetaGaussianConstants& c, double x) {
  if (std::isnan(x)) return x;
  const double tail = line_tail(c, std::abs(x));
  return x <= 0 ? tail : 1 - tail;
}

/// F(x): the density p of x is dF/dx, log det moves x by determinant_exponent, and alpha by
/// log_radius_alpha_slope.
struct LineJets {
  Jet log_p;  ///< log p at x
  double p;
  double c, c_slope;    ///< -d log x^2 / dlog_det at a fixed probability, and its derivative in alpha
  double alpha_motion;  ///< dx/dalpha at a fixed probability
  double alpha_bend;    ///< d2x/dalpha2 there

  FENCHEL_HD_LONG LineJets(double x, double log_det, double alpha, bool in_alpha)
      : log_p(log_density_jet(1, variable(0, x) * variable(0, x), log_det, alpha) +
              0.5 * variable(1, log_det)),
        p(std::exp(log_p.value)) {
    const BetaGaussianConstants constants = constants_of(1, log_det, alpha);
    const double width = 2 + constants.am1;
    c = determinant_exponent(constants);
    c_slope = 2 / (width * width);
    alpha_motion = in_alpha ? x * radius_slope(constants, x * x, RadiusRule{constants.am1}) : kNaN;
    alpha_bend = bend(x, log_det, alpha);
  }

  /// alpha_bend, from alpha_motion.
  [[nodiscard]] FENCHEL_HD double bend(double x, double log_det, double alpha) const {
    if (x == 0 || std::isnan(alpha_motion)) return alpha_motion;
    return x * radius_curvature(log_det, alpha, x * x, alpha_motion / x, RadiusRule{alpha - 1});
  }
};

FENCHEL_HD_LONG inline Jet cdf_jet(double x, double log_det, double alpha, bool in_alpha) {
  const LineJets at(x, log_det, alpha, in_alpha);
  if (at.p == 0) return constant(0);
  const std::array<double, 3> l = at.log_p.gradient;
  const double p = at.p, move = p * x * at.c / 2, motion = at.alpha_motion;
  return {0,
          {p, move, -p * motion},
          {p * l[0], p * l[1], p * l[2], move * l[1], move * l[2] + p * x * at.c_slope / 2,
           -p * ((2 * l[2] + l[0] * motion) * motion + at.alpha_bend)}};
}

/// What a quantile near an end of the support leaves of 1, left = 1 - x^2 / radius2, which x itself has lost:
/// 2 B(a, 1/2) P(X > x) = sum_k (1/2)_k / k! left^{a+k} / (a + k), a = 1 + 1/am1.
struct EdgeOfLine {
  static constexpr double kNear = 0.01;  ///< below it the sum is one of few terms
  double log_left, left;

  FENCHEL_HD EdgeOfLine(const BetaGaussianConstants& c, double tail) {
    const double rho = tail > 0 ? root_log_quantile(general_line(c, 0, 1).law, tail) : kInf;
    log_left = -rho * rho;
    left = std::exp(log_left);
  }

  /// d log_left / dalpha at a fixed probability, where left < kNear.
  [[nodiscard]] FENCHEL_HD double alpha_slope(double am1) const {
    constexpr int kTerms = 9;
    const double a = 1 + 1 / am1;
    double sum = 0, in_a = 0, in_log_left = 0, power = 1;
    for (int k = 0; k < kTerms; ++k, power *= left * (k - 0.5) / k) {
      const double term = power / (a + k);
      sum += term;
      in_a -= term / (a + k);
      in_log_left += k * term;
    }
    return (log_left + digamma_difference(1, a) + in_a / sum) / ((a + in_log_left / sum) * am1 * am1);
  }
};

/// The x of a probability u.
FENCHEL_HD_LONG inline Jet quantile_jet(double u, double x, double log_det, double alpha, bool in_alpha) {
  const double tail = u <= 0.5 ? u : 1 - u;
  LineJets at(x, log_det, alpha, in_alpha);
  const double half = at.c / 2;
  double log_p_alpha = at.log_p.gradient[0] * at.alpha_motion + at.log_p.gradient[2];
  if (alpha > 1 && tail < 0.5 && !std::isinf(alpha)) {
    const BetaGaussianConstants c = constants_of(1, log_det, alpha);
    const EdgeOfLine edge(c, tail);
    at.p = std::exp(c.log_peak + log_det / 2 + edge.log_left / c.am1);
    at.log_p.gradient[0] = -2 * x / (c.radius2 * c.am1 * edge.left);
    if (in_alpha && edge.left < EdgeOfLine::kNear) {
      const double slope = edge.alpha_slope(c.am1);
      log_p_alpha = alpha_derivatives(c).log_peak - edge.log_left / (c.am1 * c.am1) + slope / c.am1;
      at.alpha_motion =
          x / 2 * (log_radius2_jet(1, log_det, alpha).gradient[2] - edge.left / (1 - edge.left) * slope);
      at.alpha_bend = at.bend(x, log_det, alpha);
    }
  }
  if (at.p == 0) {  // an end of the support
    const Jet radius = exp(0.5 * log_radius2_jet(1, log_det, alpha));
    Jet jet = std::isinf(x) ? constant(x) : std::copysign(1.0, x) * radius;
    jet.gradient[0] = kInf;
    return jet;
  }
  const double stretch = 1 / at.p;
  return {0,
          {stretch, -half * x, at.alpha_motion},
          {-at.log_p.gradient[0] * stretch * stretch, -half * stretch, -stretch * log_p_alpha,
           half * half * x, -at.c_slope / 2 * x - half * at.alpha_motion, at.alpha_bend}};
}

/// Infinity past 2^1000, where products with alpha overflow: what differs from the limit is of the order of
/// log(alpha) / alpha.
FENCHEL_HD inline double within_products(Function function, double alpha) {
  return alpha > 0x1p1000 && function != Function::below_peak ? kInf : alpha;
}

/// beta_gaussian_value and beta_gaussian_jet.
FENCHEL_HD_LONG inline double value_of(Function function, index_t n, double argument, double log_det,
                                       double given_alpha) {
  const double alpha = within_products(function, given_alpha);
  const BetaGaussianConstants c = constants_of(n, log_det, alpha);
  switch (function) {
    case Function::log_density:
      return log_density(c, argument);
    case Function::cross_omega:
      return beta_gaussian_conjugate(c) + argument / 2;
    case Function::entropy:
    case Function::tsallis_entropy: {
      const bool shannon = function == Function::entropy;
      if (!shannon && std::isinf(c.variance_factor)) return kInf;
      return !shannon && std::isinf(alpha) ? 0 : -tsallis_negentropy(c, shannon ? 1 : alpha);
    }
    case Function::log_variance:
      return std::log(c.variance_factor);
    case Function::log_radius2:
      return alpha > 1 ? std::log(c.radius2) : kInf;
    case Function::log_draw:
      return std::isinf(alpha) ? log_uniform_draw(c, argument)
                               : log_draw_jet(n, argument, ConstantJets(n, log_det, alpha)).value;
    case Function::cdf:
      return cdf_value(c, argument);
    case Function::quantile:
      return quantile_value(c, argument);
    case Function::below_peak:
      return below_peak(argument, log_det, alpha);
  }
  return kNaN;
}

FENCHEL_HD inline Jet jet_of(Function function, index_t n, double argument, double log_det,
                             double given_alpha, bool in_alpha) {
  const double alpha = within_products(function, given_alpha);
  const BetaGaussianConstants c = constants_of(n, log_det, alpha);
  const double value = value_of(function, n, argument, log_det, alpha);
  if (std::isnan(value)) {
    constexpr double kNone = kNaN;
    Jet jet{kNone, {}, {}};
    for (double& x : jet.gradient) x = kNone;
    for (double& x : jet.hessian) x = kNone;
    return jet;
  }
  Jet jet = constant(value);
  if (function == Function::log_density) {
    jet = log_density_jet(n, variable(0, argument), log_det, alpha);
  } else if (function == Function::cdf) {
    jet = cdf_jet(argument, log_det, alpha, in_alpha);
  } else if (function == Function::quantile) {
    jet = quantile_jet(argument, value, log_det, alpha, in_alpha);
  } else if (function == Function::below_peak) {
    jet = below_peak_jet(argument, log_det, alpha);
  } else if (std::isinf(alpha)) {
    jet = uniform_jet(function, c, value);
  } else if (function == Function::log_draw) {
    jet = log_draw_jet(n, argument, ConstantJets(n, log_det, alpha));
  } else if (std::isfinite(value)) {
    jet = constant_jet(function, ConstantJets(n, log_det, alpha));
  }
  if (function == Function::cross_omega && std::isfinite(value)) jet.gradient[0] = 0.5;
  jet.value = value;
  return jet;
}

}  // namespace fenchel::detail
