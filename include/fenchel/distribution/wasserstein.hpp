#pragma once

/// `wasserstein2`, `optimal_map` and `wasserstein_geodesic` of two beta-Gaussians of one alpha.

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

/// The Wasserstein distance W2 of two beta-Gaussians of the same alpha, and the map t -> matrix t + shift
/// that carries p to q at this cost [SCD22, Section 6; docs/math.md 5.5, E5]. Affine maps join members of one
/// alpha only: all functions throw std::domain_error for two, and where there is no variance (alpha <= N / (N
/// + 2)) or where the scale of p is singular.
namespace fenchel {

struct AffineMap {
  double slope, shift;

  [[nodiscard]] double operator()(double t) const noexcept { return slope * t + shift; }
};

struct MultivariateAffineMap {
  Eigen::MatrixXd matrix;  ///< symmetric, positive semidefinite
  Eigen::VectorXd shift;

  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::VectorXd& t) const { return matrix * t + shift; }
};

/// Throw std::domain_error where the shift overflows, too.
[[nodiscard]] FENCHEL_EXPORT AffineMap optimal_map(const BetaGaussian& p, const BetaGaussian& q);
[[nodiscard]] FENCHEL_EXPORT MultivariateAffineMap optimal_map(const MultivariateBetaGaussian& p,
                                                               const MultivariateBetaGaussian& q);

/// The least E|X - Y|^2 over X from p and Y from q: |mean difference|^2 plus the squared Bures distance of
/// the covariances, as the cost of the optimal map, which does not cancel as q -> p.
[[nodiscard]] FENCHEL_EXPORT double wasserstein2_squared(const BetaGaussian& p, const BetaGaussian& q);
[[nodiscard]] FENCHEL_EXPORT double wasserstein2_squared(const MultivariateBetaGaussian& p,
                                                         const MultivariateBetaGaussian& q);

/// Its root, a number also where the square overflows.
[[nodiscard]] FENCHEL_EXPORT double wasserstein2(const BetaGaussian& p, const BetaGaussian& q);
[[nodiscard]] FENCHEL_EXPORT double wasserstein2(const MultivariateBetaGaussian& p,
                                                 const MultivariateBetaGaussian& q);

/// The geodesic of W2 (displacement interpolation): the image of p when every point has gone the fraction s
/// of its way along the optimal map, a member of the same alpha. p at s = 0 and q at s = 1, at W2 distance s
/// W2(p, q) from p. Throws std::domain_error unless s is in [0, 1], and as from_variance and affine do.
[[nodiscard]] FENCHEL_EXPORT BetaGaussian wasserstein_geodesic(const BetaGaussian& p, const BetaGaussian& q,
                                                               double s);
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian wasserstein_geodesic(const MultivariateBetaGaussian& p,
                                                                           const MultivariateBetaGaussian& q,
                                                                           double s);

}  // namespace fenchel
