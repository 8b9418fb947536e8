#include "estimate/statistics/chunks.hpp"

#include <limits>

#include "estimate/statistics/sums.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/batch_source.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::detail {
namespace {

constexpr double kMax = std::numeric_limits<double>::max();

/// Throws for the first bad entry from a row on.
void check_from(std::string_view where, Rows<const double> rows, PerRow weights, index_t begin) {
  for (index_t i = begin; i < rows.rows; ++i) {
    for (index_t j = 0; j < rows.cols; ++j) {
      if (const double x = rows.row(i)[j]; !(x >= -kMax && x <= kMax))
        throw BadEntry(where, "value", "must be finite", i, j, x);
    }
    check_weight(where, weights[i], i);
  }
}

void drop_weightless(index_t columns, Chunk& chunk) noexcept {
  index_t kept = 0;
  for (index_t i = 0; i < chunk.rows; ++i) {
    const double weight = chunk.weights[static_cast<std::size_t>(i)];
    chunk.weights[static_cast<std::size_t>(kept)] = weight;
    for (index_t j = 0; j < columns; ++j) {
      double* column = chunk.values.data() + j * chunk.capacity;
      column[kept] = column[i];
    }
    kept += weight > 0;
  }
  chunk.rows = kept;
}

}  // namespace

void check_shape(std::string_view where, Rows<const double> rows, index_t columns, PerRow weights) {
  if (rows.cols != columns)
    throw_invalid_argument(where, "columns", "must be " + shortest(columns), rows.cols);
  if (weights.per_row() && weights.size() != rows.rows)
    throw_invalid_argument(where, "weights", "must have one entry for each row", weights.size());
}

void throw_weight(std::string_view where, double weight, index_t row) {
  throw BadEntry(where, "weight", "must be finite and not negative", row, kWeightColumn, weight);
}

void check_entries(std::string_view where, Rows<const double> rows, index_t columns, PerRow weights) {
  check_shape(where, rows, columns, weights);
  check_from(where, rows, weights, 0);
}

void fill(std::string_view where, Rows<const double> rows, PerRow weights, index_t begin, index_t count,
          Chunk& chunk) {
  bool good = true;
  for (index_t j = 0; j < rows.cols; ++j)
    good &= copy_finite(rows.row(begin) + j, rows.stride, count, chunk.values.data() + j * chunk.capacity);
  double* w = chunk.weights.data();
  double least = weights[begin];
  if (weights.per_row()) {
    for (index_t i = 0; i < count; ++i) w[i] = weights[begin + i];
    good &= copy_finite(w, 1, count, w);
    least = extremes(w, count).minimum;
  } else if (begin == 0) {
    std::fill_n(w, count, least);
  }
  if (!good || !(least >= 0 && least <= kMax)) check_from(where, rows, weights, begin);
  chunk.rows = count;
  if (least == 0) drop_weightless(rows.cols, chunk);
}

}  // namespace fenchel::detail
