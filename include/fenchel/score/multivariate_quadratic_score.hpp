#pragma once

/// `MultivariateQuadraticScore`: -(t - mu)^T Sigma^-1 (t - mu) / 2 on R^N.

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// f(t) = -(t - mu)^T Sigma^-1 (t - mu) / 2 on R^N; -inf off mu + image of Sigma where Sigma is singular.
class FENCHEL_EXPORT MultivariateQuadraticScore {
 public:
  /// Throws std::invalid_argument unless Sigma is square with mu's size, std::domain_error unless mu and
  /// Sigma are finite and Sigma symmetric, positive semidefinite and not zero.
  MultivariateQuadraticScore(Eigen::VectorXd mu, Eigen::MatrixXd Sigma);

  [[nodiscard]] const Eigen::VectorXd& mu() const noexcept { return mu_; }
  [[nodiscard]] const Eigen::MatrixXd& Sigma() const noexcept { return Sigma_; }
  [[nodiscard]] index_t dimension() const noexcept { return mu_.size(); }
  /// The dimension of the image of Sigma.
  [[nodiscard]] index_t rank() const noexcept { return factor_.cols(); }
  /// N x rank with Sigma = factor factor^T: the Cholesky factor where Sigma is regular.
  [[nodiscard]] const Eigen::MatrixXd& factor() const noexcept { return factor_; }
  /// rank x N, the inverse of the factor on its image.
  [[nodiscard]] const Eigen::MatrixXd& whitening() const noexcept { return whitening_; }
  /// The logarithm of the product of the nonzero eigenvalues of Sigma.
  [[nodiscard]] double log_det() const noexcept { return log_det_; }

  /// (t - mu)^T Sigma^+ (t - mu), infinite off the image.
  [[nodiscard]] double mahalanobis2(const Eigen::Ref<const Eigen::VectorXd>& t) const;
  [[nodiscard]] double operator()(const Eigen::Ref<const Eigen::VectorXd>& t) const {
    return -mahalanobis2(t) / 2;
  }

 private:
  Eigen::VectorXd mu_;
  Eigen::MatrixXd Sigma_, factor_, whitening_;
  double log_det_;
};

}  // namespace fenchel
