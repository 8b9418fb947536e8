#pragma once

/// The losses of quadratic scores on R^N, with gradients and Hessian; `cholesky_gradient`.

#include <Eigen/Core>
#include <concepts>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_dirac.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/loss/target.hpp"
#include "fenchel/predict/multivariate_quadratic.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

/// Losses of quadratic scores on R^N [SCD22, Sections 3 and 6; docs/math.md 5.5, E11]. All functions throw as
/// predict does, which needs alpha > N / (N + 2), std::invalid_argument where dimensions differ, and
/// std::domain_error where a scale is singular. Temperature T: T loss(f / T; q).
namespace fenchel {

/// The gradient with respect to the lower triangular factor of Sigma = factor factor^T, from the symmetric
/// gradient with respect to Sigma: the lower triangle of 2 gradient factor.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd cholesky_gradient(const Eigen::MatrixXd& gradient,
                                                               const Eigen::MatrixXd& factor);

/// The Hessian of both losses with respect to the canonical parameters, N + N^2 square: cov_{p, 2-alpha} of
/// (t, vec(t t^T)) under the prediction p (E11), in closed form.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd fenchel_young_hessian(const Tsallis& omega,
                                                                   const MultivariateQuadraticScore& f,
                                                                   const Euclidean& domain);

/// A target known by its moments.
template <class Q>
concept EuclideanTarget = requires(const Q& q) {
  { domain(q) } -> std::same_as<Euclidean>;
  { mean(q) } -> std::convertible_to<Eigen::VectorXd>;
  { covariance(q) } -> std::convertible_to<Eigen::MatrixXd>;
};

namespace detail {
[[nodiscard]] FENCHEL_EXPORT Loss<MultivariateQuadraticGradient> quadratic_loss(
    const Tsallis& omega, const MultivariateQuadraticScore& f, const Euclidean& domain,
    const Eigen::VectorXd& mean, const Eigen::MatrixXd& covariance, TargetNegentropy target);
}

/// Omega*(f) + Omega(q) - E_q[f]. A beta-Gaussian of the same alpha has a closed form without cancellation:
/// never negative, and exactly 0 at the prediction.
[[nodiscard]] FENCHEL_EXPORT Loss<MultivariateQuadraticGradient> fenchel_young(
    const Tsallis& omega, const MultivariateQuadraticScore& f, const Euclidean& domain,
    const MultivariateBetaGaussian& q);
/// An observation or a sample: infinite, with NaN as derivative in alpha, for alpha >= 1.
template <EuclideanTarget Q>
requires std::same_as<Q, MultivariateDirac> || std::same_as<Q, MultivariateEmpirical>
[[nodiscard]] Loss<MultivariateQuadraticGradient> fenchel_young(const Tsallis& omega,
                                                                const MultivariateQuadraticScore& f,
                                                                const Euclidean& domain, const Q& q) {
  return detail::quadratic_loss(omega, f, domain, mean(q), covariance(q),
                                detail::target_negentropy(q, omega.alpha()));
}

/// Omega*(f) - E_q[f].
template <EuclideanTarget Q>
[[nodiscard]] Loss<MultivariateQuadraticGradient> cross_omega(const Tsallis& omega,
                                                              const MultivariateQuadraticScore& f,
                                                              const Euclidean& domain, const Q& q) {
  return detail::quadratic_loss(omega, f, domain, mean(q), covariance(q), {0, 0});
}

}  // namespace fenchel
