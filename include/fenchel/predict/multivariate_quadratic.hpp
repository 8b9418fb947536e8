#pragma once

/// `predict` for quadratic scores on R^N: `MultivariateBetaGaussian`.

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel {

/// The beta-Gaussian with scale temperature * Sigma [SCD22, Section 6]. Throws std::invalid_argument when f
/// is not a score on the domain, std::domain_error unless alpha > r / (r + 2), where E_p[f] and Omega(p) are
/// finite (docs/math.md 5.4).
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian predict(const Tsallis& omega,
                                                              const MultivariateQuadraticScore& f,
                                                              const Euclidean& domain);

/// Omega*(f) = max_p E_p[f] - Omega(p).
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                              const Euclidean& domain);

/// A of the prediction exp_{2-alpha}((f - A) / T), and the gradient of A + mu^T Sigma^-1 mu / 2 with respect
/// to the canonical parameters (Sigma^-1 mu, -Sigma^-1 / 2): the mean of (t, t t^T) under the escort of order
/// 2 - alpha.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                               const Euclidean& domain);
[[nodiscard]] FENCHEL_EXPORT CanonicalParameters normalizer_gradient(const Tsallis& omega,
                                                                     const MultivariateQuadraticScore& f,
                                                                     const Euclidean& domain);
/// Its Hessian there, N + N^2 square. Throws std::domain_error where Sigma is singular.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd normalizer_hessian(const Tsallis& omega,
                                                                const MultivariateQuadraticScore& f,
                                                                const Euclidean& domain);

}  // namespace fenchel
