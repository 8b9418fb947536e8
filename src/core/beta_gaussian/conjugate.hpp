#pragma once

#include <cmath>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/index.hpp"

/// What the losses of quadratic scores need of beta-Gaussians.
namespace fenchel::detail {

/// Omega*_alpha(f) = (A - am1 n v / 2) / alpha of f = -q/2, v the variance factor (docs/math.md 5.2); -n v /
/// 2 for infinite alpha.
FENCHEL_HD inline double beta_gaussian_conjugate(const BetaGaussianConstants& c) noexcept {
  const double half_trace = static_cast<double>(c.dimension) * c.variance_factor / 2;
  if (std::isinf(c.am1)) return -half_trace;
  if (std::isinf(c.peak_power)) return c.normalizer / (1 + c.am1) - half_trace / (1 + 1 / c.am1);
  return (c.normalizer - c.am1 * half_trace) / (1 + c.am1);
}

/// Its derivative with respect to alpha at fixed f, which is also less that of Omega_alpha at the prediction
/// (the envelope).
[[nodiscard]] double conjugate_alpha_derivative(const BetaGaussianConstants& c);

/// The derivative of Omega_order(p) with respect to the order, by quadrature in the radius, to about 1e-12; 0
/// for an infinite order, NaN where Omega is infinite.
[[nodiscard]] double tsallis_negentropy_order_derivative(const BetaGaussianConstants& c, double order);

/// e^y - 1 - y.
FENCHEL_HD inline double expm1_less_linear(double y) noexcept {
  return std::abs(y) <= 1 ? y * y * std::exp(y) * exp_moment<1>(-y) : std::expm1(y) - y;
}

/// g(s) - g(gamma s) / gamma with g(s) = e^s - 1 - s and gamma = n am1 / (2 + n am1), g(s) at gamma = 0: what
/// two members whose scales have the ratio e^s differ by (docs/math.md 5.5). Towards gamma = 1, where the two
/// terms are equal, as e^s (delta g(-s) - g(-delta s)) / gamma with delta = 1 - gamma. Never negative, and 0
/// at s = 0.
FENCHEL_HD inline double scale_divergence(index_t n, double am1, double s) noexcept {
  const double width = static_cast<double>(n) * am1;
  const double delta = std::isinf(am1) ? 0 : 2 / (2 + width),
               gamma = std::isinf(am1) ? 1 : width / (2 + width);
  if (gamma == 0) return expm1_less_linear(s);
  if (delta == 0) return 0;
  if (gamma < 0.5) return expm1_less_linear(s) - expm1_less_linear(gamma * s) / gamma;
  if (s < -700)  // where e^-s overflows
    return (delta * (s * std::exp(s) - std::expm1(s)) - std::exp(s) * expm1_less_linear(-delta * s)) / gamma;
  return std::exp(s) * (delta * expm1_less_linear(-s) - expm1_less_linear(-delta * s)) / gamma;
}

}  // namespace fenchel::detail
