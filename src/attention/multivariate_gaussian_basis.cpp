#include "fenchel/attention/multivariate_gaussian_basis.hpp"

#include <cmath>
#include <numbers>
#include <string>

#include "attention/check_shape.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "score/factorizations.hpp"

namespace fenchel {

MultivariateGaussianBasis::MultivariateGaussianBasis(const Eigen::MatrixXd& mu,
                                                     const std::vector<Eigen::MatrixXd>& Sigma)
    : size_(mu.cols()), dimension_(mu.rows()) {
  constexpr auto kWhere = "multivariate_gaussian_basis";
  if (size_ == 0 || dimension_ == 0) {
    throw_invalid_argument(kWhere, "mu", "must not be empty",
                           std::to_string(dimension_) + " x " + std::to_string(size_));
  }
  if (static_cast<index_t>(Sigma.size()) != size_) {
    throw_invalid_argument(kWhere, "Sigma.size()", "must equal mu.cols() = " + std::to_string(size_),
                           static_cast<index_t>(Sigma.size()));
  }
  for (index_t j = 0; j < size_; ++j) {
    for (index_t a = 0; a < dimension_; ++a) {
      mu_.push_back(detail::checked_finite(kWhere, indexed("mu", j), mu(a, j)));
    }
    const Eigen::MatrixXd& c = Sigma[static_cast<std::size_t>(j)];
    const std::string name = indexed("Sigma", j);
    detail::check_shape(kWhere, name, c, dimension_, dimension_);
    if (!c.allFinite() || !c.isApprox(c.transpose(), 1e-12)) {
      throw_domain_error(kWhere, name, "must be finite and symmetric",
                         (c - c.transpose()).cwiseAbs().maxCoeff());
    }
    const double smallest = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(c).eigenvalues()[0];
    if (!(smallest > 0)) {
      throw_domain_error(kWhere, "the smallest eigenvalue of " + name, "must be positive", smallest);
    }
    for (index_t a = 0; a < dimension_; ++a) {
      for (index_t b = 0; b < dimension_; ++b) Sigma_.push_back((c(a, b) + c(b, a)) / 2);
    }
  }
}

MultivariateGaussianBasis MultivariateGaussianBasis::unit_square(index_t rows, index_t cols,
                                                                 const Eigen::MatrixXd& Sigma) {
  constexpr auto kWhere = "multivariate_gaussian_basis::unit_square";
  if (rows < 1) throw_invalid_argument(kWhere, "rows", "must be at least 1", rows);
  if (cols < 1) throw_invalid_argument(kWhere, "cols", "must be at least 1", cols);
  const auto place = [](index_t k, index_t count) {
    return count == 1 ? 0.5 : static_cast<double>(k) / static_cast<double>(count - 1);
  };
  Eigen::MatrixXd mu(2, rows * cols);
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < cols; ++c) mu.col(r * cols + c) << place(c, cols), place(r, rows);
  }
  return {mu, std::vector<Eigen::MatrixXd>(static_cast<std::size_t>(rows * cols), Sigma)};
}

Eigen::VectorXd MultivariateGaussianBasis::mu(index_t j) const {
  return Eigen::Map<const Eigen::VectorXd>(mu_.data() + j * dimension_, dimension_);
}

Eigen::MatrixXd MultivariateGaussianBasis::Sigma(index_t j) const {
  return Eigen::Map<const Eigen::MatrixXd>(Sigma_.data() + j * dimension_ * dimension_, dimension_,
                                           dimension_);
}

cpu::GaussianFunctions MultivariateGaussianBasis::functions() const noexcept {
  return {{mu_.data(), size_, dimension_}, {Sigma_.data(), size_, dimension_ * dimension_}};
}

Eigen::VectorXd evaluate(const MultivariateGaussianBasis& psi, const Eigen::VectorXd& t) {
  if (t.size() != psi.dimension()) {
    throw_invalid_argument("evaluate", "t.size()",
                           "must equal the basis' dimension, " + std::to_string(psi.dimension()),
                           static_cast<index_t>(t.size()));
  }
  const double log_two_pi = std::log(2 * std::numbers::pi);
  Eigen::VectorXd value(psi.size());
  for (index_t j = 0; j < psi.size(); ++j) {
    const Eigen::LLT<Eigen::MatrixXd> factor(psi.Sigma(j));
    const double q = factor.matrixL().solve(t - psi.mu(j)).squaredNorm();
    const double half_log_det = factor.matrixLLT().diagonal().array().log().sum();
    value[j] = std::exp(-q / 2 - half_log_det - static_cast<double>(psi.dimension()) * log_two_pi / 2);
  }
  return value;
}

}  // namespace fenchel
