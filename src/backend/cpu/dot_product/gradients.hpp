#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "backend/cpu/dot_product/scores.hpp"
#include "backend/cpu/dot_product/weights.hpp"
#include "backend/cpu/entmax/alpha_direction.hpp"
#include "backend/cpu/entmax/jacobian_row.hpp"
#include "backend/cpu/entmax/row.hpp"

namespace fenchel::detail {

/// A number that every score of the support exceeds, from what `attention` has recorded: a little less than
/// tau, for its rounding. -inf where nothing is known.
template <class Real>
Real below_support(double alpha, const Real* normalizers) noexcept {
  using Limits = std::numeric_limits<Real>;
  const double top = normalizers[0], offset = normalizers[1], reach = 1 / (alpha - 1);
  const double margin = 4 * double{Limits::epsilon()} * (std::abs(top) + std::abs(offset) + reach);
  const double cut = top + offset - reach - margin;
  return cut > double{Limits::lowest()} ? static_cast<Real>(cut) : -Limits::infinity();
}

/// Sums over the queries of one head of keys; without data where they are not wanted.
template <class Real>
struct KeySums {
  Table<Real> key, value;
};

/// The gradients of blocks of queries, and the memory of one worker for them.
template <class Real>
class BlockGradients {
 public:
  static std::size_t bytes(const DotProducts<Real>& x) noexcept {
    const index_t m = x.key.rows, d = x.key.cols, e = x.value.cols;
    return BlockScores<Real>::bytes(x) + entmax_scratch_bytes<Real>(m) + jacobian_scratch_bytes<Real>(m) +
           3 * scratch_bytes<Real>(padded(m)) + scratch_bytes<index_t>(padded(m)) + scratch_bytes<Real>(d) +
           scratch_bytes<Real>(kQueries * padded(m)) + scratch_bytes<Real>(packed_size<Real>(m, e)) +
           scratch_bytes<Real>(kQueries * d) + scratch_bytes<Real>(kQueries * e) +
           scratch_bytes<double>(kQueries * d);
  }

  BlockGradients(const DotProducts<Real>& x, const AttentionRecord<Real>& record,
                 const Matrices<const Real>& cotangent, const DotProductGradients<Real, Real>& gradient,
                 WorkerScratch& memory) noexcept
      : x_(x),
        record_(record),
        cotangent_(cotangent),
        gradient_(gradient),
        scores_(x, memory),
        entmax_(take_entmax_scratch<Real>(memory, x.key.rows)),
        jacobian_(take_jacobian_scratch<Real>(memory, x.key.rows)),
        p_(memory.take<Real>(padded(x.key.rows))),
        weights_(memory.take<Real>(padded(x.key.rows))),
        slopes_(memory.take<Real>(padded(x.key.rows))),
        places_(memory.take<index_t>(padded(x.key.rows))),
        sum_(memory.take<Real>(x.key.cols)),
        dense_{.slopes = {memory.take<Real>(kQueries * padded(x.key.rows)), padded(x.key.rows)},
               .values = memory.take<Real>(packed_size<Real>(x.key.rows, x.value.cols)),
               .queries = {memory.take<Real>(kQueries * x.key.cols), x.key.cols},
               .cotangents = {memory.take<Real>(kQueries * x.value.cols), x.value.cols},
               .sums = {memory.take<double>(kQueries * x.key.cols), x.key.cols}} {}

  /// Writes what belongs to the queries, and adds what belongs to the keys.
  void add(const QueryBlock& block, const KeySums<Real>& sums) noexcept {
    scores_.compute(block);
    index_t dense_count = 0;
    for (index_t i = 0; i < block.count; ++i) {
      const index_t query = block.first + i, n = scores_.columns(i);
      const double alpha = x_.alpha[block.h];
      const Real cut = below_support(alpha, record_.normalizers.row(row_of(x_, block, query)));
      const index_t count = select_above(scores_.rows().row(i), n, cut, places_, p_);
      entmax_row(p_, count, alpha, entmax_, p_);
      if (is_dense(count, n) && may_be_dense(block, query)) {
        spread({count, places_, p_}, scores_.keys().columns(), scores_.rows().row(dense_count));
        dense_.of[dense_count++] = query;
      } else {
        scores_.keys().to_keys(count, places_);
        add_list(block, query, count, sums);
      }
    }
    if (dense_count > 0) add_dense(block, dense_count, sums);
  }

 private:
  static constexpr index_t kQueries = QueryBlocks::kQueries;

  /// The queries of a block whose weights are dense; these are where the scores were.
  struct Dense {
    Table<Real> slopes;               ///< in the weights, then in the scores
    Real* values;                     ///< packed
    Table<Real> queries, cotangents;  ///< the queries times the scale
    Table<double> sums;
    index_t of[kQueries] = {};
  };

  /// A query with the weights p_ at places_.
  void add_list(const QueryBlock& block, index_t query, index_t count, const KeySums<Real>& sums) noexcept {
    const index_t row = row_of(x_, block, query), d = x_.key.cols, e = x_.value.cols;
    const double scale = x_.scale[block.h];
    const Real* cotangent = cotangent_.row(block.b, block.h, query);
    dots({count, places_, nullptr}, table_of(x_.value, block.b, key_head(x_, block)), e, cotangent, slopes_);
    apply_dropout(x_, row, count, places_, slopes_);
    jacobian_row(p_, count, x_.alpha[block.h], slopes_, jacobian_, slopes_);
    write_alpha(block, row, p_, slopes_, count);
    if (wants_query()) {
      weighted_sum({count, places_, slopes_}, table_of(x_.key, block.b, key_head(x_, block)), d, sum_);
      write_query(block, query, sum_);
    }
    if (sums.key.data != nullptr) {
      for (index_t k = 0; k < count; ++k) weights_[k] = static_cast<Real>(scale * double{slopes_[k]});
      add_multiples({count, places_, weights_}, x_.query.row(block.b, block.h, query), d, sums.key);
    }
    if (sums.value.data != nullptr) {
      std::copy_n(p_, count, weights_);
      apply_dropout(x_, row, count, places_, weights_);
      add_multiples({count, places_, weights_}, cotangent, e, sums.value);
    }
  }

  /// The dense rows of a block together.
  void add_dense(const QueryBlock& block, index_t count, const KeySums<Real>& sums) noexcept {
    const index_t n = scores_.keys().columns(), d = x_.key.cols, e = x_.value.cols;
    const auto runs = scores_.keys().runs();
    const Table<const Real> weights = reading(scores_.rows()), slopes = reading(dense_.slopes);
    const auto scale = static_cast<Real>(x_.scale[block.h]);
    for (index_t i = 0; i < count; ++i) {
      const Real* query = x_.query.row(block.b, block.h, dense_.of[i]);
      std::transform(query, query + d, dense_.queries.row(i), [scale](Real x) { return scale * x; });
      std::copy_n(cotangent_.row(block.b, block.h, dense_.of[i]), e, dense_.cotangents.row(i));
    }
    for (const KeyRun& run : runs)
      multiply_keys(reading(dense_.cotangents), count, dense_.values + run.first * e, run.count, e, Real(1),
                    dense_.slopes.from_column(run.column));
    for (index_t i = 0; i < count; ++i) {
      jacobian_row(weights.row(i), n, x_.alpha[block.h], slopes.row(i), jacobian_, dense_.slopes.row(i));
      write_alpha(block, row_of(x_, block, dense_.of[i]), weights.row(i), slopes.row(i), n);
    }
    if (wants_query()) {
      std::fill_n(dense_.sums.data, count * d, 0.0);
      const Table<const Real> keys = table_of(x_.key, block.b, key_head(x_, block));
      for (const KeyRun& run : runs)
        multiply_rows(slopes.from_column(run.column), count, keys.from_row(run.first), run.count, d,
                      dense_.sums);
      for (index_t i = 0; i < count; ++i) write_query(block, dense_.of[i], dense_.sums.row(i));
    }
    for (const KeyRun& run : runs) {
      if (sums.key.data != nullptr)
        add_products(slopes.from_column(run.column), count, reading(dense_.queries), run.count, d,
                     sums.key.from_row(run.first));
      if (sums.value.data != nullptr)
        add_products(weights.from_column(run.column), count, reading(dense_.cotangents), run.count, e,
                     sums.value.from_row(run.first));
    }
  }

  static Table<const Real> reading(Table<Real> table) noexcept { return {table.data, table.stride}; }

  [[nodiscard]] bool wants_query() const noexcept {
    return gradient_.query.data != nullptr || gradient_.scale.data != nullptr;
  }

  void write_alpha(const QueryBlock& block, index_t row, const Real* p, const Real* slopes,
                   index_t n) noexcept {
    if (gradient_.alpha.data == nullptr) return;
    gradient_.alpha.row(row)[0] = static_cast<Real>(0.0 - along_alpha(x_.alpha[block.h], p, slopes, n));
  }

  /// sum is that of the keys times the slopes in their scores.
  template <class Sum>
  void write_query(const QueryBlock& block, index_t query, const Sum* sum) noexcept {
    const index_t d = x_.key.cols;
    if (gradient_.scale.data != nullptr) {
      const Real* own = x_.query.row(block.b, block.h, query);
      double slope = 0;
      for (index_t k = 0; k < d; ++k) slope += double{sum[k]} * double{own[k]};
      gradient_.scale.row(row_of(x_, block, query))[0] = static_cast<Real>(slope);
    }
    if (gradient_.query.data == nullptr) return;
    Real* to = gradient_.query.row(block.b, block.h, query);
    for (index_t k = 0; k < d; ++k) to[k] = static_cast<Real>(x_.scale[block.h] * double{sum[k]});
  }

  /// Weights of 0 are not left out of dense products: what they are multiplied with must be finite.
  bool may_be_dense(const QueryBlock& block, index_t query) noexcept {
    if (!detail::may_be_dense(x_)) return false;
    const index_t own = key_head(x_, block), head = block.b * x_.key.heads + own;
    if (head != known_head_) {
      known_head_ = head;
      const auto keys = table_of(x_.key, block.b, own), values = table_of(x_.value, block.b, own);
      finite_ = are_finite(keys, x_.key.rows, x_.key.cols) && are_finite(values, x_.key.rows, x_.value.cols);
      if (finite_) pack_keys(values, x_.key.rows, x_.value.cols, dense_.values);
    }
    return finite_ && are_finite({x_.query.row(block.b, block.h, query), 0}, 1, x_.key.cols) &&
           are_finite({cotangent_.row(block.b, block.h, query), 0}, 1, x_.value.cols);
  }

  const DotProducts<Real>& x_;
  const AttentionRecord<Real>& record_;
  const Matrices<const Real>& cotangent_;
  const DotProductGradients<Real, Real>& gradient_;
  BlockScores<Real> scores_;
  EntmaxScratch<Real> entmax_;
  JacobianScratch<Real> jacobian_;
  Real *p_, *weights_, *slopes_;
  index_t* places_;
  Real* sum_;
  Dense dense_;
  index_t known_head_ = -1;
  bool finite_ = false;
};

}  // namespace fenchel::detail
