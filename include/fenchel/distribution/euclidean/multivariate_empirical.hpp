#pragma once

/// `MultivariateEmpirical`: a sample in R^N as the target of a loss.

#include <Eigen/Core>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/domain/euclidean.hpp"

namespace fenchel {

/// A sample in R^N, the columns of a matrix, each with the same weight: the target of a loss.
class MultivariateEmpirical {
 public:
  /// Throws std::invalid_argument for no columns.
  explicit MultivariateEmpirical(Eigen::MatrixXd columns) : columns_(std::move(columns)) {
    if (columns_.cols() == 0)
      throw_invalid_argument("multivariate_empirical", "columns", "must not be empty", index_t{0});
  }
  [[nodiscard]] const Eigen::MatrixXd& columns() const noexcept { return columns_; }

 private:
  Eigen::MatrixXd columns_;
};

[[nodiscard]] inline Euclidean domain(const MultivariateEmpirical& q) {
  return Euclidean(q.columns().rows());
}
[[nodiscard]] inline Eigen::VectorXd mean(const MultivariateEmpirical& q) {
  return q.columns().rowwise().mean();
}
/// The mean square deviation (divided by the number of columns).
[[nodiscard]] inline Eigen::MatrixXd covariance(const MultivariateEmpirical& q) {
  const Eigen::MatrixXd offsets = q.columns().colwise() - mean(q);
  return offsets * offsets.transpose() / static_cast<double>(offsets.cols());
}
/// That of an atom: atoms of any size have it.
[[nodiscard]] inline double tsallis_entropy(const MultivariateEmpirical&, double order) noexcept {
  return tsallis_entropy(Dirac{0}, order);
}
[[nodiscard]] inline double negentropy_order_derivative(const MultivariateEmpirical&, double order) noexcept {
  return negentropy_order_derivative(Dirac{0}, order);
}

}  // namespace fenchel
