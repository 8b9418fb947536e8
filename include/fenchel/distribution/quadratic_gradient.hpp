#pragma once

/// `QuadraticGradient`: derivatives in mu, sigma2 and alpha.

#include <Eigen/Core>

namespace fenchel {

/// Derivatives with respect to the mu and sigma2 of a quadratic score, and to the regularizer's alpha.
struct QuadraticGradient {
  double mu, sigma2, alpha;
};

/// Derivatives with respect to the mu and Sigma of a quadratic score, the latter as the symmetric matrix G of
/// dL = Tr(G dSigma), and to the regularizer's alpha.
struct MultivariateQuadraticGradient {
  Eigen::VectorXd mu;
  Eigen::MatrixXd Sigma;
  double alpha;
};

}  // namespace fenchel
