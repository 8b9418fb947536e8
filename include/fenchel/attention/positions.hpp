#pragma once

/// `positions` and `grid_positions`: the centres of equal cells of the unit interval and the unit square.

#include <Eigen/Core>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// Where observations lie: at the centres of equal cells of the unit interval or square, for even and odd
/// lengths alike, so that each stands for as much of the signal as every other. (l/L [SCD22, Section 9.1]
/// shifts all by half a cell, points from 0 to 1 leave those at the ends half a cell each.)
namespace fenchel {

/// t_l = (l + 1/2) / length, l = 0, ..., length - 1. Throws std::invalid_argument unless length >= 1.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> positions(index_t length);

/// Column r * cols + c is ((c + 1/2) / cols, (r + 1/2) / rows): row by row, x along a row, as in
/// MultivariateGaussianBasis::unit_square. Throws std::invalid_argument unless both are at least 1.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd grid_positions(index_t rows, index_t cols);

}  // namespace fenchel
