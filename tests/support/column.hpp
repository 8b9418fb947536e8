#pragma once

#include <span>

#include "fenchel/core/rows.hpp"
#include "fenchel/data/rows_source.hpp"

namespace fenchel::testing {

/// Values as rows of one column.
inline Rows<const double> column(std::span<const double> values) {
  return {values.data(), static_cast<index_t>(values.size()), 1};
}

inline RowsSource source_of(std::span<const double> values, std::span<const double> weights = {}) {
  return RowsSource(column(values), weights);
}

}  // namespace fenchel::testing
