#pragma once

#include <algorithm>

#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/index.hpp"

/// The queries of a call, cut into blocks.
namespace fenchel::detail {

/// Some consecutive queries of one head.
struct QueryBlock {
  index_t b, h, first, count;
};

/// The head of keys at which the queries of a block look.
template <class Real>
index_t key_head(const DotProducts<Real>& x, const QueryBlock& block) noexcept {
  return block.h / (x.query.heads / x.key.heads);
}

/// The row of a query in the record.
template <class Real>
index_t row_of(const DotProducts<Real>& x, const QueryBlock& block, index_t query) noexcept {
  return (block.b * x.query.heads + block.h) * x.query.rows + query;
}

/// The queries of a call, as blocks: block u is the same for any number of threads.
struct QueryBlocks {
  static constexpr index_t kQueries = 24;  ///< a block's: enough of them for what is read of the keys
  index_t heads, queries, blocks;          ///< blocks of one head

  QueryBlocks(index_t query_heads, index_t query_count) noexcept
      : heads(query_heads), queries(query_count), blocks((query_count + kQueries - 1) / kQueries) {}

  /// The first and the last of a head stand side by side, so that ranges of causal blocks have equal work.
  [[nodiscard]] QueryBlock operator[](index_t u) const noexcept {
    const index_t k = u % blocks, block = k % 2 == 0 ? k / 2 : blocks - 1 - k / 2, head = u / blocks;
    const index_t first = block * kQueries;
    return {head / heads, head % heads, first, std::min(kQueries, queries - first)};
  }
};

}  // namespace fenchel::detail
