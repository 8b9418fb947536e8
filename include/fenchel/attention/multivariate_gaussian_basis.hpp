#pragma once

/// `MultivariateGaussianBasis`: Gaussian functions on R^D.

#include <Eigen/Core>
#include <vector>

#include "fenchel/attention/basis.hpp"
#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// Gaussian radial basis functions on R^D, psi_j(t) = N(t; mu_j, Sigma_j) [SCD22, Section 8].
class FENCHEL_EXPORT MultivariateGaussianBasis {
 public:
  /// Column j of `mu`, D x N, is the centre of function j. Throws std::invalid_argument when there is no
  /// function or the shapes differ, std::domain_error unless mu is finite and each Sigma positive
  /// definite.
  MultivariateGaussianBasis(const Eigen::MatrixXd& mu, const std::vector<Eigen::MatrixXd>& Sigma);

  /// rows x cols functions on the unit square with one Sigma: mu = (c / (cols - 1), r / (rows - 1)),
  /// row by row, ends included; a single row or column lies at 1/2. The paper's basis for images is
  /// unit_square(10, 10, .001 * Eigen::Matrix2d::Identity()).
  [[nodiscard]] static MultivariateGaussianBasis unit_square(index_t rows, index_t cols,
                                                             const Eigen::MatrixXd& Sigma);

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t dimension() const noexcept { return dimension_; }
  [[nodiscard]] Eigen::VectorXd mu(index_t j) const;
  [[nodiscard]] Eigen::MatrixXd Sigma(index_t j) const;
  [[nodiscard]] cpu::GaussianFunctions functions() const noexcept;

 private:
  index_t size_, dimension_;
  std::vector<double> mu_, Sigma_;  ///< N x D and N x D^2, row by row
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const MultivariateGaussianBasis& psi,
                                                      const Eigen::VectorXd& t);

static_assert(EuclideanBasis<MultivariateGaussianBasis>);

}  // namespace fenchel
