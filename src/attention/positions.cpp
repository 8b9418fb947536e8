#include "fenchel/attention/positions.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

double centre(index_t cell, index_t count) {
  return (static_cast<double>(cell) + 0.5) / static_cast<double>(count);
}

}  // namespace

std::vector<double> positions(index_t length) {
  if (length < 1) throw_invalid_argument("positions", "length", "must be at least 1", length);
  std::vector<double> t(static_cast<std::size_t>(length));
  for (index_t l = 0; l < length; ++l) t[static_cast<std::size_t>(l)] = centre(l, length);
  return t;
}

Eigen::MatrixXd grid_positions(index_t rows, index_t cols) {
  if (rows < 1) throw_invalid_argument("grid_positions", "rows", "must be at least 1", rows);
  if (cols < 1) throw_invalid_argument("grid_positions", "cols", "must be at least 1", cols);
  Eigen::MatrixXd t(2, rows * cols);
  for (index_t r = 0; r < rows; ++r) {
    for (index_t c = 0; c < cols; ++c) t.col(r * cols + c) << centre(c, cols), centre(r, rows);
  }
  return t;
}

}  // namespace fenchel
