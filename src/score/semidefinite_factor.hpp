#pragma once

#include <Eigen/Core>
#include <string_view>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// A symmetric positive semidefinite matrix of rank r, and what is needed to work on its image.
struct SemidefiniteFactor {
  Eigen::MatrixXd matrix;     ///< symmetric to the last bit
  Eigen::MatrixXd factor;     ///< N x r with matrix = factor factor^T; Cholesky's where r = N
  Eigen::MatrixXd whitening;  ///< r x N, the inverse of the factor on its image
  double log_det;             ///< of the product of the nonzero eigenvalues
};

/// Relative to the largest eigenvalue and to N, of the matrix scaled to a diagonal near 1, an eigenvalue
/// below this is 0: units that differ do not make a matrix singular.
inline constexpr double kRankTolerance = 1e-15;
/// Entries that should be equal may differ by this, relative to them or to the root of their diagonal.
inline constexpr double kSymmetryTolerance = 1e-12;

/// Throws std::invalid_argument unless the matrix is square of that size, std::domain_error unless it is
/// finite, symmetric, positive semidefinite and not zero.
[[nodiscard]] SemidefiniteFactor semidefinite_factor(std::string_view where, std::string_view what,
                                                     Eigen::MatrixXd matrix, index_t size);

/// Throws std::domain_error, naming the element, unless all are finite.
void check_finite(std::string_view where, std::string_view what, const Eigen::VectorXd& x);

/// Throws std::domain_error unless the rank, which `what` names, is the dimension.
void check_regular(std::string_view where, std::string_view what, index_t rank, index_t dimension);

}  // namespace fenchel::detail
