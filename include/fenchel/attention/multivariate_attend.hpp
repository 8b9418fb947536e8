#pragma once

/// `attend` and its derivatives for beta-Gaussians on R^D.

#include <Eigen/Core>
#include <string_view>

#include "fenchel/attention/basis.hpp"
#include "fenchel/attention/multivariate_gaussian_basis.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
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
