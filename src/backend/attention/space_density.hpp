#pragma once

#include <cmath>
#include <numbers>

#include "core/complex.hpp"
#include "core/gamma_ratio_derivatives.hpp"
#include "fenchel/core/beta_gaussian.hpp"

/// E_p[psi_j] on R^D as a mixture of Gaussian expectations [SCD22, Section 8; docs/math.md 7.5]. In
/// coordinates in which Sigma is 1 and Sigma_j = diag(lambda), with d = mu_j - mu, n = alpha / am1, v_a =
/// beta lambda_a and beta = alpha / p(mu)^am1, and with log G = -sum_a log(1 + zeta v_a) / 2 - beta zeta
/// d_a^2 / (2 (1 + zeta v_a)):
///   rho = factor int exp(n (zeta - 1 - log zeta)) G(zeta) dzeta,
/// over a contour around the negative axis for alpha > 1, over zeta > 0 for alpha < 1, and G(1) p(mu) for
/// alpha = 1. All derivatives are means of simple functions of zeta under the same weights.
namespace fenchel::detail {

/// What the functions of a row share.
struct SpaceDensity {
  double n, beta;
  double log_factor;      ///< of rho above
  double log_peak_slope;  ///< d log p(mu) / d alpha
  double log_beta_slope;  ///< d log beta / d alpha
  double inverse_alpha2;  ///< 1 / alpha^2: dn / d alpha = -n^2 / alpha^2
  double stirling_slope;  ///< n^2 times the derivative of log Gamma(|n|) less Stirling's formula
  double log_peak_curve, log_beta_curve, stirling_curve;  ///< second derivatives in alpha of log p(mu), log
                                                          ///< beta and of log Gamma(|n|) less Stirling's
};

/// log Gamma(n) less Stirling's (n - 1/2) log n - n + log(2 pi) / 2, n^2 times its derivative, and its second
/// derivative in 1 / n, by their series past 16 and recurrences before.
struct Stirling {
  double value, slope, curve;
};
FENCHEL_HD inline Stirling stirling(double n) noexcept {
  constexpr double kReach = 16;
  double value = 0, slope = 0, bend = 0, y = n;
  for (; y < kReach; ++y) {
    value += (y + 0.5) * std::log1p(1 / y) - 1;
    slope += std::log1p(1 / y) - (y + 0.5) / (y * (y + 1));
    bend += 0.5 / (y * y * (y + 1) * (y + 1));
  }
  const double w = 1 / y, w2 = w * w, ratio = std::isinf(n) ? 1 : n / y;
  value += w * (1. / 12 + w2 * (-1. / 360 + w2 * (1. / 1260 + w2 * (-1. / 1680 + w2 / 1188))));
  const double series = -1. / 12 + w2 * (1. / 120 + w2 * (-1. / 252 + w2 * (1. / 240 - w2 / 132)));
  const double slope_n2 = ratio * ratio * series + (slope == 0 ? 0 : n * n * slope);
  // n^4 L'' + 2 n^3 L' for L the excess
  const double last = w * (-1. / 60 + w2 * (1. / 63 + w2 * (-1. / 40 + w2 * 2. / 33)));
  if (y == n) return {value, slope_n2, last};
  const double second = w2 * w2 * (last - 2 * w * y * y * series) + bend;
  return {value, slope_n2, n * n * n * n * second + 2 * n * slope_n2};
}

/// Second derivatives in alpha are 0 unless `curves`.
FENCHEL_HD inline SpaceDensity space_density(const BetaGaussianConstants& c, bool curves = true) noexcept {
  const double am1 = c.am1, alpha = 1 + am1;
  const BetaGaussianPeakSlopes slopes = peak_slopes(c);
  const double n = std::isinf(am1) ? 1 : alpha / am1;
  const Stirling excess = stirling(std::abs(n));
  SpaceDensity p{};
  p.n = n;
  p.beta = am1 == 0 ? 1 / c.peak_power : 2 * n / c.radius2;
  p.log_factor = c.log_peak;
  if (am1 != 0)
    p.log_factor += std::log(std::abs(n) / (2 * std::numbers::pi)) / 2 + std::copysign(excess.value, n);
  p.log_peak_slope = slopes.log_peak;
  p.log_beta_slope = 1 / alpha - slopes.log_peak_power;
  p.inverse_alpha2 = 1 / (alpha * alpha);
  p.stirling_slope = excess.slope;
  if (std::isinf(am1) || !curves) return p;
  const double size = static_cast<double>(c.dimension), width = 2 + size * am1;
  p.log_peak_curve =
      2 * (log_gamma_ratio_derivatives(c.dimension, am1).second - size * slopes.log_peak) / width;
  p.log_beta_curve = -p.inverse_alpha2 - 2 * slopes.log_peak - am1 * p.log_peak_curve;
  p.stirling_curve = p.inverse_alpha2 * (p.inverse_alpha2 * std::copysign(excess.curve, n * excess.curve) +
                                         2 / alpha * excess.slope);
  return p;
}

/// log G has a sum of these over coordinates.
FENCHEL_HD inline double space_log_term(double v, double e2, double zeta) noexcept {
  const double y = zeta * v;
  return -std::log1p(y) / 2 - zeta * e2 / (1 + y);
}

/// A coordinate's part of g = d log G / dzeta and of dg / dzeta, c = 1 / (1 + zeta v), real or complex.
template <class Number>
struct SpaceLogSlopes {
  Number g, g1;
};
template <class Number>
FENCHEL_INLINE SpaceLogSlopes<Number> space_log_slopes(double v, double e2, Number c) noexcept {
  const Number cv = v * c, c2 = c * c;
  return {-0.5 * cv - e2 * c2, 0.5 * (cv * cv) + 2 * e2 * (c2 * cv)};
}

/// Whether a function is so many widths outside of the support of a density of alpha > 1 that nothing of it
/// is left: the integrand at any zeta > 0 is a bound, here where 1 + zeta max(v) is the distance in radii.
FENCHEL_HD inline bool space_vanishes(const SpaceDensity& p, double size2, double widest) noexcept {
  constexpr double kLogNothing = -1000;
  const double outside = std::sqrt(size2 / p.n) - 1;
  return outside > widest && p.log_factor - p.n * outside * outside / widest < kLogNothing;
}

/// From this n on, d rho / d alpha is taken from n-fold expansions about zeta = 1.
inline constexpr double kManyOrders = 2e3;

/// What n (1/2 + n h) + n^2 stirling slope tends to under the integral after two integrations by parts, with
/// no large n left, less the last term; x = zeta - 1, h = x - log1p(x), g = d log G / d zeta, and g1 = dg /
/// dzeta. Series in x, to 1e-12 for |x| < 0.2.
template <class Number>
[[nodiscard]] FENCHEL_INLINE Number order_bracket(Number x, Number g, Number g1) noexcept {
  constexpr int kTerms = 18;
  // eta = h / x^2 = 1/2 - x/3 + ..., q = (1/2 - eta) / x = 1/3 - x/4 + ...
  Number eta = x * 0, q = eta, eta1 = eta, q1 = eta;
#ifndef __CUDACC__
#pragma GCC unroll 20
#endif
  for (int k = kTerms; k >= 0; --k) {
    eta1 = eta - x * eta1;
    q1 = q - x * q1;
    eta = 1. / (k + 2) - x * eta;
    q = 1. / (k + 3) - x * q;
  }
  const Number zeta = 1. + x;
  return q - zeta * q1 + zeta * q * g + (2. * zeta * eta - zeta * zeta * eta1) * g +
         zeta * zeta * eta * (g1 + g * g);
}

}  // namespace fenchel::detail
