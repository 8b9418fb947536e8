#pragma once

#include <Eigen/Core>

#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/core/rows.hpp"

/// Eigen's matrices as the kernels see them.
namespace fenchel::detail {

[[nodiscard]] inline Rows<const double> row_of(const Eigen::VectorXd& x) { return {x.data(), 1, x.size()}; }
[[nodiscard]] inline Rows<double> row_of(Eigen::VectorXd& x) { return {x.data(), 1, x.size()}; }

/// A column of the D x L matrix is a row of the points.
[[nodiscard]] inline cpu::WeightPositions points_of(const Eigen::MatrixXd& positions) {
  return {.points = {positions.data(), positions.cols(), positions.rows()}};
}

}  // namespace fenchel::detail
