#pragma once

#include <Eigen/Core>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

/// Where observations lie: at the centres of equal cells of the unit interval or square, for odd and even
/// lengths alike. A cell stands for as much of the signal as every other, and nothing favours an end, as both
/// l/L [SCD22, Section 9.1] and L points with the ends included would.
namespace fenchel {

/// t_l = (l + 1/2) / length, l = 0, ..., length - 1. Throws std::invalid_argument unless length >= 1.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> positions(index_t length);

/// Column r * cols + c is ((c + 1/2) / cols, (r + 1/2) / rows): row by row, x along a row, as in
/// MultivariateGaussianBasis::unit_square. Throws std::invalid_argument unless both are at least 1.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd grid_positions(index_t rows, index_t cols);

}  // namespace fenchel
