#pragma once

/// `attend` and its derivatives for beta-Gaussians on R^D.

#include <Eigen/Core>
#include <string_view>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/canonical_gradient.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_dirac.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"

/// Continuous attention on R^D [SCD22, Section 8]: r = E_p[psi] and its derivatives, for Gaussian functions
/// to kAttendError (docs/math.md 7.5's mixture, on a contour that needs no guard). All throw
/// std::invalid_argument where the dimensions differ, ConvergenceError where a result would not be accurate;
/// those for Gaussian functions std::domain_error where Sigma is singular.
namespace fenchel {

/// Relative error of attend for Gaussian functions where r_j is above 1e-30 of the largest value of psi_j; of
/// derivatives, relative to their natural scale.
inline constexpr double kAttendError = 1e-11;

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd attend(const MultivariateBetaGaussian& p,
                                                    const MultivariateGaussianBasis& psi);

/// The gradient of cotangent . r in mu, Sigma and alpha.
[[nodiscard]] FENCHEL_EXPORT MultivariateQuadraticGradient attend_vjp(const MultivariateBetaGaussian& p,
                                                                      const MultivariateGaussianBasis& psi,
                                                                      const Eigen::VectorXd& cotangent);

/// How r moves when (mu, Sigma, alpha) move along a direction; that of Sigma is symmetric.
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd attend_jvp(const MultivariateBetaGaussian& p,
                                                        const MultivariateGaussianBasis& psi,
                                                        const MultivariateQuadraticGradient& direction);

/// dr / dtheta, N x (D + D^2), in theta = (Sigma^-1 mu, vec(-Sigma^-1 / 2)): the transpose of cov_{p,2-alpha}
/// of (t, vec(t t^T)) and psi [SCD22, Section 8; docs/math.md 7.1, E19].
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd attend_jacobian(const MultivariateBetaGaussian& p,
                                                             const MultivariateGaussianBasis& psi);

namespace detail {
/// Throws std::invalid_argument unless the dimensions agree.
FENCHEL_EXPORT void check_basis_dimension(std::string_view where, index_t density, index_t basis);

/// The derivatives of log p(t) in mu, Sigma and alpha inside of the support, whose products with psi have the
/// derivatives of E_p[psi] as means. Throws std::domain_error where Sigma is singular or alpha infinite.
class FENCHEL_EXPORT LogDensityGradient {
 public:
  LogDensityGradient(std::string_view where, const MultivariateBetaGaussian& p);
  [[nodiscard]] MultivariateQuadraticGradient operator()(const Eigen::VectorXd& t) const;

 private:
  MultivariateBetaGaussian p_;
  Eigen::MatrixXd precision_;
};
}  // namespace detail

/// The same for any functions, each by quadrature: as accurate, and as slow, as expectation().
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const MultivariateBetaGaussian& p, const Psi& psi) {
  detail::check_basis_dimension("attend", p.dimension(), psi.dimension());
  Eigen::VectorXd r(psi.size());
  for (index_t j = 0; j < r.size(); ++j) {
    r[j] = expectation(p, [&psi, j](const Eigen::VectorXd& t) -> double {
      const Eigen::VectorXd value = evaluate(psi, t);
      return value[j];
    });
  }
  return r;
}

/// Their derivatives, for a finite alpha: expectations of psi times those of log p, 1 + D (D + 3) / 2 of them
/// for the gradient. As accurate as expectation() up to alpha = 2, where p' is not infinite at the edge.
template <EuclideanBasis Psi>
[[nodiscard]] MultivariateQuadraticGradient attend_vjp(const MultivariateBetaGaussian& p, const Psi& psi,
                                                       const Eigen::VectorXd& cotangent) {
  detail::check_basis_dimension("attend_vjp", p.dimension(), psi.dimension());
  if (cotangent.size() != psi.size())
    throw_invalid_argument("attend_vjp", "cotangent.size()",
                           "must equal the basis' size, " + shortest(psi.size()), cotangent.size());
  const detail::LogDensityGradient slope("attend_vjp", p);
  const auto mean_of = [&](auto part) {
    return expectation(p, [&](const Eigen::VectorXd& t) -> double {
      const Eigen::VectorXd values = evaluate(psi, t);
      return cotangent.dot(values) * part(slope(t));
    });
  };
  const index_t d = p.dimension();
  MultivariateQuadraticGradient gradient{Eigen::VectorXd(d), Eigen::MatrixXd(d, d), 0};
  for (index_t i = 0; i < d; ++i) {
    gradient.mu[i] = mean_of([i](const auto& g) { return g.mu[i]; });
    for (index_t j = 0; j <= i; ++j)
      gradient.Sigma(i, j) = gradient.Sigma(j, i) = mean_of([i, j](const auto& g) { return g.Sigma(i, j); });
  }
  gradient.alpha = mean_of([](const auto& g) { return g.alpha; });
  return gradient;
}
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::VectorXd attend_jvp(const MultivariateBetaGaussian& p, const Psi& psi,
                                         const MultivariateQuadraticGradient& direction) {
  detail::check_basis_dimension("attend_jvp", p.dimension(), psi.dimension());
  detail::check_basis_dimension("attend_jvp", p.dimension(), direction.mu.size());
  const detail::LogDensityGradient slope("attend_jvp", p);
  Eigen::VectorXd r(psi.size());
  for (index_t j = 0; j < r.size(); ++j) {
    r[j] = expectation(p, [&](const Eigen::VectorXd& t) -> double {
      const MultivariateQuadraticGradient g = slope(t);
      const Eigen::VectorXd values = evaluate(psi, t);
      return values[j] * (g.mu.dot(direction.mu) + g.Sigma.cwiseProduct(direction.Sigma).sum() +
                          (direction.alpha == 0 ? 0 : g.alpha * direction.alpha));
    });
  }
  return r;
}
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::MatrixXd attend_jacobian(const MultivariateBetaGaussian& p, const Psi& psi) {
  const index_t d = p.dimension();
  Eigen::MatrixXd jacobian(psi.size(), d + d * d);
  const auto along = [&](const Eigen::VectorXd& linear, const Eigen::MatrixXd& quadratic) {
    return attend_jvp(p, psi, canonical_direction(p, {linear, quadratic}));
  };
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(d, d), none = Eigen::MatrixXd::Zero(d, d);
  for (index_t i = 0; i < d; ++i) {
    jacobian.col(i) = along(one.col(i), none);
    for (index_t j = 0; j <= i; ++j) {
      const Eigen::MatrixXd pair = one.col(i) * one.row(j);
      jacobian.col(d + i + d * j) = along(none.col(0), (pair + pair.transpose()) / 2);
      jacobian.col(d + j + d * i) = jacobian.col(d + i + d * j);
    }
  }
  return jacobian;
}

/// An observation, or the mean over a sample.
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const MultivariateDirac& p, const Psi& psi) {
  detail::check_basis_dimension("attend", p.at.size(), psi.dimension());
  return evaluate(psi, p.at);
}
template <EuclideanBasis Psi>
[[nodiscard]] Eigen::VectorXd attend(const MultivariateEmpirical& p, const Psi& psi) {
  detail::check_basis_dimension("attend", p.columns().rows(), psi.dimension());
  return design_matrix(psi, p.columns()).rowwise().mean();
}

}  // namespace fenchel
