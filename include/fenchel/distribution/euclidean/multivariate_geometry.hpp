#pragma once

/// Contours, affine images, marginals and conditionals of beta-Gaussians on R^N.

#include <Eigen/Core>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

/// Contours, images and slices of multivariate beta-Gaussians (docs/math.md 5.6). The family is closed under
/// affine maps and conditioning, at any alpha in its range; the results exist also where there is no
/// variance.
namespace fenchel {

/// P((t - mu)^T Sigma^+ (t - mu) <= q): 0 for q <= 0, NaN for NaN. The relative error is below
/// kRadialCdfError.
[[nodiscard]] FENCHEL_EXPORT double radial_cdf(const MultivariateBetaGaussian& p, double q);
inline constexpr double kRadialCdfError = 1e-11;

/// The smallest ellipsoid of that mass, with the density constant on its boundary; the support where the mass
/// is 1. Throws std::domain_error unless the mass is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT Ellipsoid mahalanobis_contour(const MultivariateBetaGaussian& p, double mass);

/// Whether t is inside; false for NaN. Throws as MultivariateQuadraticScore does for a bad shape or size.
[[nodiscard]] FENCHEL_EXPORT bool contains(const Ellipsoid& ellipsoid,
                                           const Eigen::Ref<const Eigen::VectorXd>& t);

/// The distribution of B t + b. Where it keeps all r dimensions alpha stays and the scale is |det B|^am1 B
/// Sigma B^T for square B; an image of k dimensions has 1/am1' = 1/am1 + (r - k)/2. Throws
/// std::invalid_argument when the sizes do not fit, std::domain_error when the image is a point.
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian affine(const MultivariateBetaGaussian& p,
                                                             const Eigen::MatrixXd& B,
                                                             const Eigen::VectorXd& b);

/// The distribution of t[indices], in that order: the image under the projection, with another alpha. Throws
/// std::invalid_argument unless there are indices, all different and below the dimension.
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian marginal(const MultivariateBetaGaussian& p,
                                                               std::span<const index_t> indices);

/// The distribution of the other coordinates, in their order, given t[indices] = values: the same alpha, the
/// Gaussian's mean, and p(values)^am1 times the Schur complement of Sigma as its scale. Throws as marginal
/// does, and std::domain_error where the density of the values is 0 or they determine all the others.
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian conditional(const MultivariateBetaGaussian& p,
                                                                  std::span<const index_t> indices,
                                                                  const Eigen::VectorXd& values);

}  // namespace fenchel
