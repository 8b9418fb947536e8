#pragma once

#include <algorithm>
#include <array>

#include "backend/cpu/dot_product/block_keys.hpp"
#include "backend/cpu/dot_product/products.hpp"
#include "backend/cpu/dot_product/query_blocks.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// One matrix of many.
template <class T>
Table<T> table_of(const Matrices<T>& matrices, index_t b, index_t h) noexcept {
  return {matrices.row(b, h, 0), matrices.row_stride};
}

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
    keys_ = BlockKeys<Real>(x_, block);
    const Table<const Real> queries{x_.query.row(block.b, block.h, block.first), x_.query.row_stride};
    for (const KeyRun& run : keys_.runs())
      multiply_keys(queries, block.count, packed_ + run.first * d, run.count, d,
                    static_cast<Real>(x_.scale[block.h]), z_.from_column(run.column));
    for (index_t i = 0; i < block.count; ++i) finish(block, i);
  }

  /// The scores of each query of the block, -inf where there is no weight. A row has room for whole panels,
  /// and may be written.
  [[nodiscard]] Table<Real> rows() const noexcept { return z_; }
  /// The keys whose scores the rows have.
  [[nodiscard]] const BlockKeys<Real>& keys() const noexcept { return keys_; }
  /// How many columns there are up to the last key that query i of the block may see.
  [[nodiscard]] index_t columns(index_t i) const noexcept { return columns_[static_cast<std::size_t>(i)]; }

 private:
  void finish(const QueryBlock& block, index_t i) noexcept {
    const index_t query = block.first + i;
    const QueryKeys seen = keys_of(x_, block.b, query);
    Real* z = z_.row(i);
    index_t end = 0;
    for (const KeyInterval& own : {seen.sinks, seen.window}) {
      if (own.is_empty()) continue;
      const index_t column = keys_.column_of(own.first);
      std::fill(z + end, z + column, kNone);
      end = column + own.last - own.first;
      keep_mask_and_bias(block, query, own, z + column);
    }
    columns_[static_cast<std::size_t>(i)] = end;
  }

  void keep_mask_and_bias(const QueryBlock& block, index_t query, KeyInterval keys, Real* z) const noexcept {
    const index_t n = keys.last - keys.first;
    if (x_.bias.data != nullptr) {
      const Real* bias = x_.bias.row(block.b, block.h, query) + keys.first * x_.bias.step;
      for (index_t j = 0; j < n; ++j) {
        const Real own = bias[j * x_.bias.step];
        z[j] = own == kNone ? kNone : z[j] + own;
      }
    }
    if (x_.mask.data != nullptr) {
      const bool* mask = x_.mask.row(block.b, block.h, query) + keys.first * x_.mask.step;
      for (index_t j = 0; j < n; ++j) z[j] = mask[j * x_.mask.step] ? z[j] : kNone;
    }
  }

  static constexpr Real kNone = -Real(kInfinity);

  const DotProducts<Real>& x_;
  Real* packed_;
  Table<Real> z_;
  BlockKeys<Real> keys_;
  std::array<index_t, QueryBlocks::kQueries> columns_ = {};
  index_t packed_head_ = -1;
};

/// The work of a block, for workers_for.
template <class Real>
index_t work_of_block(const DotProducts<Real>& x) noexcept {
  constexpr index_t kProductsANanosecond = 16;
  return QueryBlocks::kQueries * x.key.rows * (x.key.cols + x.value.cols) / kProductsANanosecond;
}

}  // namespace fenchel::detail
