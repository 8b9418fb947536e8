#pragma once

/// `Chain`: the length of each row and the weight of each edge, for maps that compare neighbouring columns.

#include <span>

#include "fenchel/core/rows.hpp"

namespace fenchel::cpu {

/// Rows as chains: column j is the neighbour of column j + 1. The views are of memory that the caller owns.
struct Chain {
  /// The length of each row. Columns beyond it are padding: their scores are not read, and their
  /// probabilities are 0. Empty means that all rows are full.
  std::span<const index_t> lengths = {};
  /// Positive factors of gamma for the cols - 1 edges of each row; a stride of 0 shares them among rows. A
  /// null view means that all are 1.
  Rows<const double> weights = {};
};

}  // namespace fenchel::cpu
