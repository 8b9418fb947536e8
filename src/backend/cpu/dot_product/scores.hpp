#pragma once

#include <algorithm>

#include "backend/cpu/dot_product/products.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// One matrix of many.
template <class T>
Table<T> table_of(const Matrices<T>& matrices, index_t b, index_t h) noexcept {
  return {matrices.row(b, h, 0), matrices.row_stride};
}

/// Some consecutive queries of one head.
struct QueryBlock {
  index_t b, h, first, count;

  [[nodiscard]] index_t last() const noexcept { return first + count - 1; }
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

/// The scores of a block of queries, and the memory of one worker for them. The keys of a head are packed
/// when the first of its blocks comes.
template <class Real>
class BlockScores {
 public:
  static std::size_t bytes(const DotProducts<Real>& x) noexcept {
    return scratch_bytes<Real>(packed_size<Real>(x.key.rows, x.key.cols)) +
           scratch_bytes<Real>(QueryBlocks::kQueries * padded(x.key.rows));
  }

  BlockScores(const DotProducts<Real>& x, WorkerScratch& memory) noexcept
      : x_(x),
        packed_(memory.take<Real>(packed_size<Real>(x.key.rows, x.key.cols))),
        z_{memory.take<Real>(QueryBlocks::kQueries * padded(x.key.rows)), padded(x.key.rows)} {}

  void compute(const QueryBlock& block) noexcept {
    const index_t own = key_head(x_, block), head = block.b * x_.key.heads + own, d = x_.key.cols;
    if (head != packed_head_) {
      pack_keys(table_of(x_.key, block.b, own), x_.key.rows, d, packed_);
      packed_head_ = head;
    }
    multiply_keys({x_.query.row(block.b, block.h, block.first), x_.query.row_stride}, block.count, packed_,
                  keys(block.last()), d, static_cast<Real>(x_.scale[block.h]), z_);
    for (index_t i = 0; i < block.count; ++i) finish(block.b, block.h, block.first + i, z_.row(i));
  }

  /// The scores of each query of the block, -inf where there is no weight. A row has room for whole panels,
  /// and may be written.
  [[nodiscard]] Table<Real> rows() const noexcept { return z_; }
  /// How many keys a query may see: the first ones, for a causal one.
  [[nodiscard]] index_t keys(index_t query) const noexcept {
    return x_.causal ? std::min(x_.key.rows, query + 1) : x_.key.rows;
  }

 private:
  void finish(index_t b, index_t h, index_t query, Real* z) const noexcept {
    constexpr Real kNone = -Real(kInfinity);
    const index_t n = keys(query);
    if (x_.bias.data != nullptr) {
      const Real* bias = x_.bias.row(b, h, query);
      for (index_t j = 0; j < n; ++j) {
        const Real own = bias[j * x_.bias.step];
        z[j] = own == kNone ? kNone : z[j] + own;
      }
    }
    if (x_.mask.data != nullptr) {
      const bool* mask = x_.mask.row(b, h, query);
      for (index_t j = 0; j < n; ++j) z[j] = mask[j * x_.mask.step] ? z[j] : kNone;
    }
  }

  const DotProducts<Real>& x_;
  Real* packed_;
  Table<Real> z_;
  index_t packed_head_ = -1;
};

/// The work of a block, for workers_for.
template <class Real>
index_t work_of_block(const DotProducts<Real>& x) noexcept {
  constexpr index_t kProductsANanosecond = 16;
  return QueryBlocks::kQueries * x.key.rows * (x.key.cols + x.value.cols) / kProductsANanosecond;
}

}  // namespace fenchel::detail
