#pragma once

/// Gradients and directions in canonical parameters, from and to those in mu and Sigma.

#include <array>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"

/// Derivatives in the canonical parameters theta = (Sigma^-1 mu, -Sigma^-1 / 2) of a quadratic score, from
/// those in mu and Sigma and the other way round (docs/math.md 7.1). For all that is differentiated in mu and
/// Sigma: expectations and losses alike.
namespace fenchel {

/// The gradient in theta, from that in mu and sigma2.
[[nodiscard]] inline std::array<double, 2> canonical_gradient(const BetaGaussian& p,
                                                              const QuadraticGradient& gradient) noexcept {
  const double first = p.sigma2() * gradient.mu;
  return {first, 2 * (p.mu() * first + p.sigma2() * p.sigma2() * gradient.sigma2)};
}
/// The same on R^N; the quadratic part is the symmetric G of dL = Tr(G dTheta).
[[nodiscard]] FENCHEL_EXPORT CanonicalParameters
canonical_gradient(const MultivariateBetaGaussian& p, const MultivariateQuadraticGradient& gradient);

/// How mu and sigma2 move when theta moves along a direction; alpha stands still.
[[nodiscard]] inline QuadraticGradient canonical_direction(const BetaGaussian& p,
                                                           const std::array<double, 2>& direction) noexcept {
  return {p.sigma2() * (direction[0] + 2 * p.mu() * direction[1]), 2 * p.sigma2() * p.sigma2() * direction[1],
          0};
}
/// The same on R^N, along a symmetric quadratic part.
[[nodiscard]] FENCHEL_EXPORT MultivariateQuadraticGradient
canonical_direction(const MultivariateBetaGaussian& p, const CanonicalParameters& direction);

}  // namespace fenchel
