#pragma once

#include <Eigen/Core>
#include <random>

#include "fenchel/core/index.hpp"

namespace fenchel::testing {

/// Standard normal numbers, the same for the same seed.
inline Eigen::MatrixXd normal_matrix(index_t rows, index_t cols, unsigned seed) {
  std::mt19937 random(seed);
  std::normal_distribution<double> distribution;
  return Eigen::MatrixXd::NullaryExpr(rows, cols, [&] { return distribution(random); });
}

}  // namespace fenchel::testing
