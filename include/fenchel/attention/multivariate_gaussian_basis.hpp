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

/// Gaussian radial basis functions on R^D, psi_j(t) = N(t; mean_j, covariance_j) [SCD22, Section 8].
class FENCHEL_EXPORT MultivariateGaussianBasis {
 public:
  /// Column j of `means`, D x N, is the mean of function j. Throws std::invalid_argument when there is no
  /// function or the shapes differ, std::domain_error unless means are finite and covariances positive
  /// definite.
  MultivariateGaussianBasis(const Eigen::MatrixXd& means, const std::vector<Eigen::MatrixXd>& covariances);

  /// rows x cols functions on the unit square with one covariance: means (c / (cols - 1), r / (rows - 1)),
  /// row by row, ends included; a single row or column lies at 1/2. The paper's basis for images is
  /// unit_square(10, 10, .001 * Eigen::Matrix2d::Identity()).
  [[nodiscard]] static MultivariateGaussianBasis unit_square(index_t rows, index_t cols,
                                                             const Eigen::MatrixXd& covariance);

  [[nodiscard]] index_t size() const noexcept { return size_; }
  [[nodiscard]] index_t dimension() const noexcept { return dimension_; }
  [[nodiscard]] Eigen::VectorXd mean(index_t j) const;
  [[nodiscard]] Eigen::MatrixXd covariance(index_t j) const;
  [[nodiscard]] cpu::GaussianFunctions functions() const noexcept;

 private:
  index_t size_, dimension_;
  std::vector<double> means_, covariances_;  ///< N x D and N x D^2, row by row
};

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd evaluate(const MultivariateGaussianBasis& psi,
                                                      const Eigen::VectorXd& t);

static_assert(EuclideanBasis<MultivariateGaussianBasis>);

}  // namespace fenchel
