#pragma once

/// The constants of a beta-Gaussian on R^n for every alpha, with their derivatives in alpha.

#include <cmath>
#include <numbers>

#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

/// beta-Gaussians: the prediction of Tsallis(alpha) for f = -q/2, q = (t - mu)^T Sigma^-1 (t - mu), on R^n
/// [SCD22, Section 6]. One parametrisation serves every alpha > 1 - 2/n, through 1 to infinity
/// (docs/math.md 5.2).
namespace fenchel {

/// With ell = log det(2 pi Sigma) / 2 - D_n(am1) and z = -2 am1 ell / (2 + n am1):
///   log p = log_peak + log1p(-q / radius2) / am1,   radius2 = 2 e^z / am1.
struct BetaGaussianConstants {
  index_t dimension;
  double am1;              ///< alpha - 1
  double log_peak;         ///< log p(mu) = -2 ell / (2 + n am1)
  double peak_power;       ///< p(mu)^am1 = e^z; infinite with alpha, or where it is above 2^1000
  double radius2;          ///< the support is q < radius2; infinite for alpha = 1, negative for alpha < 1
  double normalizer;       ///< A of p = exp_{2-alpha}(f - A) for f = -q/2; -expm1(z) / am1
  double threshold;        ///< tau = A - 1/am1 = -radius2 / 2; -infinity for alpha = 1
  double variance_factor;  ///< covariance = variance_factor * Sigma; infinite for alpha <= n / (n + 2)
};

/// The constants for log det Sigma = log_det.
FENCHEL_HD inline BetaGaussianConstants beta_gaussian_constants(index_t n, double am1,
                                                                double log_det) noexcept {
  constexpr double kInf = kInfinity;
  const auto size = static_cast<double>(n);
  const double half_log_det = (size * std::log(2 * std::numbers::pi) + log_det) / 2;
  if (std::isinf(am1)) {  // uniform on the ellipsoid of volume one
    const double radius2 = 2 * std::exp(2 / size * (std::lgamma(size / 2 + 1) - half_log_det));
    return {n, am1, 0, kInf, radius2, -radius2 / 2, -radius2 / 2, radius2 / (size + 2)};
  }
  const double ell = half_log_det - log_gamma_ratio(n, am1);
  constexpr double kHuge = 0x1p1000;  // beyond, products may overflow
  if (am1 > kHuge) {
    const double z = -2 * ell / (2 / am1 + size), half = std::exp(z - std::log(am1));
    return {n, am1, z / am1, kInf, 2 * half, -half, -half, 2 * half / (2 / am1 + size + 2)};
  }
  const double z = -2 * am1 * ell / (2 + size * am1), power = std::exp(z);
  const double spread = 2 + (size + 2) * am1;
  const double variance_factor = spread > 0 ? 2 * power / spread : kInf;
  const double log_peak = -2 * ell / (2 + size * am1);
  if (am1 == 0) return {n, am1, log_peak, power, kInf, ell, -kInf, variance_factor};
  if (power > kHuge && am1 > 0) {  // e^z overflows before e^z / am1
    const double half = std::exp(z - std::log(am1));
    return {n, am1, log_peak, kInf, 2 * half, -half, -half, 2 * half / (2 / am1 + size + 2)};
  }
  return {n, am1, log_peak, power, 2 * power / am1, -std::expm1(z) / am1, -power / am1, variance_factor};
}

/// log p at q = (t - mu)^T Sigma^-1 (t - mu); -inf off the support, NaN for NaN.
FENCHEL_HD inline double log_density(const BetaGaussianConstants& c, double q) noexcept {
  if (c.am1 == 0) return c.log_peak - q / 2;
  const double y = q / c.radius2;
  if (y >= 1) return -kInfinity;
  return c.log_peak + std::log1p(-y) / c.am1;
}

/// Omega_order(p) of any order for which the integral of p^order is finite; order 1 is int p log p; an
/// infinite order gives 0 where p <= 1, else infinity.
FENCHEL_HD inline double tsallis_negentropy(const BetaGaussianConstants& c, double order) noexcept {
  if (std::isinf(order)) return c.log_peak > 0 ? order : 0;
  const double mean_log = c.log_peak + log_power_mass_slope(c.dimension, c.am1, order);
  return deformed_log_of_exp(order - 1, mean_log) / order;
}

/// d / dalpha of log p(mu) and of z = am1 log p(mu), at fixed mu and Sigma; 0 for infinite alpha.
struct BetaGaussianPeakSlopes {
  double log_peak, log_peak_power;
};
FENCHEL_HD inline BetaGaussianPeakSlopes peak_slopes(const BetaGaussianConstants& c) noexcept {
  if (std::isinf(c.am1)) return {0, 0};
  const auto n = static_cast<double>(c.dimension);
  const double slope = log_gamma_ratio_slope(c.dimension, c.am1), width = 2 + n * c.am1;
  // log P = -2 ell / width, d ell = -slope.
  const double log_peak = (2 * slope - n * c.log_peak) / width;
  return {log_peak, c.log_peak + c.am1 * log_peak};
}

/// What changes with alpha at fixed mu and Sigma.
struct BetaGaussianAlphaDerivatives {
  double normalizer;      ///< dA / dalpha
  double log_peak;        ///< d log p(mu) / dalpha
  double log_peak_power;  ///< dz / dalpha
};
FENCHEL_HD inline BetaGaussianAlphaDerivatives alpha_derivatives(const BetaGaussianConstants& c) noexcept {
  if (std::isinf(c.am1)) return {0, 0, 0};
  const auto [log_peak, dz] = peak_slopes(c);
  const double z = c.am1 * c.log_peak;
  // A = -expm1(z) / am1 = -log P * mean of e^{tz} over t in [0, 1].
  const double normalizer = -(log_peak * exp_moment<0>(z) + c.log_peak * dz * exp_moment<1>(z));
  return {normalizer, log_peak, dz};
}

/// The escort of order 2 - alpha, under which generalized covariances are taken, in closed form
/// (docs/math.md 5.6, derived for every alpha).
struct BetaGaussianEscortMoments {
  double mass;     ///< int p^{2-alpha} = e^{-z} (2 + n am1) / 2
  double q_mean;   ///< escort mean of q: 2 n e^z / (2 + n am1)
  double q2_mean;  ///< escort mean of q^2: 4 n (n + 2) e^{2z} / ((2 + n am1) (2 + (n + 2) am1))
};
FENCHEL_HD inline BetaGaussianEscortMoments escort_moments(const BetaGaussianConstants& c) noexcept {
  const auto n = static_cast<double>(c.dimension);
  if (std::isinf(c.am1)) {  // all of the escort's mass is on the boundary q = radius2, and infinite
    return {kInfinity, c.radius2, c.radius2 * c.radius2};
  }
  if (std::isinf(c.peak_power) && c.am1 > 0) {  // the same over am1
    const double near = 2 / c.am1 + n, r2 = c.radius2;
    return {near / r2, n * r2 / near, n * (n + 2) * r2 * r2 / (near * (near + 2))};
  }
  const double near = 2 + n * c.am1, far = near + 2 * c.am1, power = c.peak_power;
  return {near / (2 * power), 2 * n * power / near, 4 * n * (n + 2) * power * power / (near * far)};
}

}  // namespace fenchel
