#pragma once

#include <algorithm>
#include <limits>
#include <string_view>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::detail {

/// Rows of positive weight with finite entries, column by column.
struct Chunk {
  index_t rows = 0;
  index_t capacity = 0;  ///< columns are that far apart
  std::vector<double> values, weights;

  [[nodiscard]] const double* column(index_t j) const noexcept { return values.data() + j * capacity; }
};

/// Throws std::invalid_argument unless the rows have that many columns and there is a weight for each.
void check_shape(std::string_view where, Rows<const double> rows, index_t columns, PerRow weights);

[[noreturn]] void throw_weight(std::string_view where, double weight, index_t row);
inline void check_weight(std::string_view where, double weight, index_t row) {
  if (!(weight >= 0 && weight <= std::numeric_limits<double>::max())) throw_weight(where, weight, row);
}

/// check_shape, and throws BadEntry as fill does.
void check_entries(std::string_view where, Rows<const double> rows, index_t columns, PerRow weights);

/// Copies rows [begin, begin + count), without those of weight 0; a weight that all rows have is copied with
/// the first ones. Throws BadEntry, in the name of `where`, for the first row with an entry that is not
/// finite, or with a weight that is not or is negative.
void fill(std::string_view where, Rows<const double> rows, PerRow weights, index_t begin, index_t count,
          Chunk& chunk);

/// Calls add(chunk) for all rows, in chunks that fit the second cache.
template <class Add>
void for_each_chunk(std::string_view where, Rows<const double> rows, index_t columns, PerRow weights,
                    const Add& add) {
  check_shape(where, rows, columns, weights);
  Chunk chunk;
  chunk.capacity = std::min(rows.rows, std::max<index_t>(512, 4096 / columns));
  chunk.values.resize(static_cast<std::size_t>(chunk.capacity * columns));
  chunk.weights.resize(static_cast<std::size_t>(chunk.capacity));
  for (index_t begin = 0; begin < rows.rows; begin += chunk.capacity) {
    fill(where, rows, weights, begin, std::min(chunk.capacity, rows.rows - begin), chunk);
    if (chunk.rows > 0) add(chunk);
  }
}

}  // namespace fenchel::detail
