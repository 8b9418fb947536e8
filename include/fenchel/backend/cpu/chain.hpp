#pragma once

/// `Chain`: the length of each row and the weight of each edge, for maps that compare neighbouring columns.

#include <span>

#include "fenchel/core/rows.hpp"

namespace fenchel::cpu {

/// How the columns of a batch hang together: column j is the neighbour of j + 1. Views of memory that
/// somebody else owns.
struct Chain {
  /// One a row: the columns from there on are padding, which does not exist: its scores are not read and its
  /// probabilities are 0. Empty: rows are full.
  std::span<const index_t> lengths = {};
  /// Factors of gamma, positive, for the cols - 1 edges of each row; a stride of 0 shares them among rows. A
  /// null view: all 1.
  Rows<const double> weights = {};
};

}  // namespace fenchel::cpu
