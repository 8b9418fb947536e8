#include "score/semidefinite_factor.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <string>
#include <vector>

#include "fenchel/core/check.hpp"
#include "score/factorizations.hpp"

namespace fenchel::detail {
namespace {

std::string entry(std::string_view what, index_t i, index_t j) {
  return std::string(what) + "[" + shortest(i) + ", " + shortest(j) + "]";
}

void check_square(std::string_view where, std::string_view what, const Eigen::MatrixXd& matrix,
                  index_t size) {
  if (matrix.rows() == size && matrix.cols() == size) return;
  throw_invalid_argument(where, what, "must be " + shortest(size) + " x " + shortest(size),
                         shortest(index_t{matrix.rows()}) + " x " + shortest(index_t{matrix.cols()}));
}

void symmetrise(std::string_view where, std::string_view what, Eigen::MatrixXd& matrix) {
  const Eigen::VectorXd root = matrix.diagonal().cwiseAbs().cwiseSqrt();
  for (index_t j = 0; j < matrix.cols(); ++j) {
    for (index_t i = 0; i < j; ++i) {
      double &upper = matrix(i, j), &lower = matrix(j, i);
      const double size = std::max({std::abs(upper), std::abs(lower), root[i] * root[j]});
      if (!(std::abs(upper - lower) <= kSymmetryTolerance * size))
        throw_domain_error(where, entry(what, j, i),
                           "must equal " + entry(what, i, j) + " = " + shortest(upper), lower);
      if (upper != lower) upper = lower = upper / 2 + lower / 2;
    }
  }
}

/// Powers of two that bring the diagonal into [1/2, 2), so that scaling does not round.
Eigen::VectorXd equilibration(const Eigen::MatrixXd& matrix) {
  return matrix.diagonal().unaryExpr([](double x) {
    return x > 0 ? std::ldexp(1.0, static_cast<int>(std::floor((std::ilogb(x) + 1) / 2.0))) : 1.0;
  });
}

/// log det(factor^T factor). With its rows in falling order, QR with column pivoting is accurate for each row
/// [A. Cox, N. Higham, Stability of Householder QR factorization for weighted least squares problems (1998)].
double log_gram_det(const Eigen::MatrixXd& factor) {
  const Eigen::VectorXd lengths = factor.rowwise().norm();
  std::vector<index_t> order(static_cast<std::size_t>(factor.rows()));
  std::iota(order.begin(), order.end(), index_t{0});
  std::stable_sort(order.begin(), order.end(), [&](index_t i, index_t j) { return lengths[i] > lengths[j]; });
  const Eigen::MatrixXd sorted = factor(order, Eigen::all);
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(sorted);
  return 2 * qr.matrixQR().diagonal().cwiseAbs().array().log().sum();
}

}  // namespace

void check_finite(std::string_view where, std::string_view what, const Eigen::VectorXd& x) {
  for (index_t i = 0; i < x.size(); ++i) checked_finite(where, indexed(what, i), x[i]);
}

void check_regular(std::string_view where, std::string_view what, index_t rank, index_t dimension) {
  if (rank < dimension)
    throw_domain_error(where, what, "must be its dimension " + shortest(dimension),
                       static_cast<double>(rank));
}

SemidefiniteFactor semidefinite_factor(std::string_view where, std::string_view what, Eigen::MatrixXd matrix,
                                       index_t size) {
  check_square(where, what, matrix, size);
  for (index_t j = 0; j < size; ++j) {
    for (index_t i = 0; i < size; ++i) checked_finite(where, entry(what, i, j), matrix(i, j));
  }
  symmetrise(where, what, matrix);

  const Eigen::VectorXd units = equilibration(matrix), inverse_units = units.cwiseInverse();
  const Eigen::MatrixXd scaled = inverse_units.asDiagonal() * matrix * inverse_units.asDiagonal();
  const Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen(scaled);
  const Eigen::VectorXd& values = eigen.eigenvalues();
  const double zero = kRankTolerance * static_cast<double>(size) * values.cwiseAbs().maxCoeff();
  const std::string name(what);
  if (!(values[0] >= -zero)) {  // also where the scaled matrix has overflowed: no semidefinite one does
    const double smallest =
        Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>(matrix, Eigen::EigenvaluesOnly).eigenvalues()[0];
    throw_domain_error(where, "the smallest eigenvalue of " + name, "must not be negative",
                       smallest < 0 ? smallest : values[0]);
  }
  const index_t rank = (values.array() > zero).count();
  if (rank == 0)
    throw_domain_error(where, "the largest eigenvalue of " + name, "must be positive", values[size - 1]);

  const Eigen::LLT<Eigen::MatrixXd> cholesky(scaled);
  if (rank == size && cholesky.info() == Eigen::Success) {
    Eigen::MatrixXd factor = units.asDiagonal() * Eigen::MatrixXd(cholesky.matrixL());
    Eigen::MatrixXd whitening =
        cholesky.matrixL().solve(Eigen::MatrixXd::Identity(size, size)) * inverse_units.asDiagonal();
    const double log_det = 2 * factor.diagonal().array().log().sum();
    return {std::move(matrix), std::move(factor), std::move(whitening), log_det};
  }
  const Eigen::MatrixXd vectors = eigen.eigenvectors().rightCols(rank);
  const Eigen::VectorXd roots = values.tail(rank).cwiseSqrt();
  Eigen::MatrixXd factor = units.asDiagonal() * vectors * roots.asDiagonal();
  Eigen::MatrixXd whitening =
      roots.cwiseInverse().asDiagonal() * vectors.transpose() * inverse_units.asDiagonal();
  const double log_det = log_gram_det(factor);
  return {std::move(matrix), std::move(factor), std::move(whitening), log_det};
}

}  // namespace fenchel::detail
