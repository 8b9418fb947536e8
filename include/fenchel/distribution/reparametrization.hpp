#pragma once

/// `sample_derivatives` and `sample_gradient`: how a draw moves with the parameters.

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

/// Draws as functions of the parameters: t = mu + r L u with Sigma = L L^T (Cholesky), u fixed on the sphere
/// and the radius r at a fixed quantile. The derivative in alpha is implicit, -(dF/dalpha) / p of the radius,
/// by quadrature [docs/math.md 4, 5.6; M. Figurnov, S. Mohamed, A. Mnih, Implicit reparameterization
/// gradients, NeurIPS 2018]. A gradient of E[g(t)] is then the mean of gradients of g(t).
namespace fenchel {

/// Relative error of the derivative in alpha, away from where it changes its sign.
inline constexpr double kSampleAlphaError = 1e-12;

/// dt/dmu, dt/dsigma2 and dt/dalpha.
struct SampleDerivatives {
  double mu, sigma2, alpha;
};

/// At a point t of the support; NaN elsewhere. Of infinite alpha the derivatives in sigma2 and alpha are 0.
[[nodiscard]] FENCHEL_EXPORT SampleDerivatives sample_derivatives(const BetaGaussian& p, double t);

/// The derivatives of cotangent . t with respect to mu, Sigma (the symmetric matrix G of Tr(G dSigma)) and
/// alpha.
struct SampleGradient {
  Eigen::VectorXd mu;
  Eigen::MatrixXd Sigma;
  double alpha;
};

/// At a point t of the support; NaN elsewhere. Throws std::domain_error where Sigma is singular,
/// std::invalid_argument where a size differs.
[[nodiscard]] FENCHEL_EXPORT SampleGradient sample_gradient(const MultivariateBetaGaussian& p,
                                                            const Eigen::VectorXd& t,
                                                            const Eigen::VectorXd& cotangent);

}  // namespace fenchel
