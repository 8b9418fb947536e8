#include "backend/cpu/dot_product/products.hpp"

#include <algorithm>

#include "backend/cpu/row_lanes.hpp"

namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE void any_pack_keys(Table<const Real> keys, index_t m, index_t d, Real* packed) noexcept {
  constexpr index_t kWidth = kLanes<Real>;
  for (index_t first = 0; first < m; first += kWidth, packed += kWidth * d) {
    const index_t count = std::min(kWidth, m - first);
    if (count < kWidth) fill(packed, kWidth * d, Real(0));
    for (index_t j = 0; j < count; ++j) {
      const Real* key = keys.row(first + j);
      for (index_t k = 0; k < d; ++k) packed[k * kWidth + j] = key[k];
    }
  }
}

/// How many rows are multiplied together: the sums of six fill the registers of AVX2, and hide the latency of
/// a sum.
constexpr int kTile = 6;

/// Numbers a_ik at any step between rows and columns.
template <class Real>
struct Steps {
  const Real* data;
  index_t row, col;
};

/// sums_i = sum_k a_ik b_k over the lanes of the rows b, k < depth. The order of a sum does not depend on
/// kRows.
template <class Real, int kRows>
FENCHEL_INLINE void multiply_tile(Steps<Real> a, Table<const Real> b, index_t depth,
                                  Lanes<Real> (&sums)[kRows]) noexcept {
  for (index_t k = 0; k < depth; ++k) {
    const Lanes<Real> lanes = load(b.row(k));
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i) sums[i] += a.data[i * a.row + k * a.col] * lanes;
  }
}

/// visit.operator()<kRows>(first row) over tiles, then the rows that are left.
template <class Visit>
FENCHEL_INLINE void for_each_tile(index_t n, Visit visit) noexcept {
  index_t i = 0;
  for (; i + kTile <= n; i += kTile) visit.template operator()<kTile>(i);
  for (; i < n; ++i) visit.template operator()<1>(i);
}

template <class Real>
FENCHEL_INLINE void any_multiply_keys(Table<const Real> queries, index_t n, const Real* packed, index_t m,
                                      index_t d, Real scale, Table<Real> z) noexcept {
  for (index_t j = 0; j < m; j += kLanes<Real>) {
    const Table<const Real> panel{packed + j * d, kLanes<Real>};
    for_each_tile(n, [&]<int kRows>(index_t i) FENCHEL_INLINE_LAMBDA {
      Lanes<Real> sums[kRows] = {};
      multiply_tile<Real>({queries.row(i), queries.stride, 1}, panel, d, sums);
      for (int r = 0; r < kRows; ++r) store(z.row(i + r) + j, scale * sums[r]);
    });
  }
}

template <class Real>
FENCHEL_INLINE void any_multiply_rows(Table<const Real> a, index_t n, Table<const Real> rows, index_t m,
                                      index_t cols, Table<double> sums) noexcept {
  constexpr index_t kRun = 64;
  for (index_t first = 0; first < m; first += kRun) {
    const index_t depth = std::min(kRun, m - first);
    for (index_t c = 0; c < cols; c += kLanes<Real>) {
      for_each_tile(n, [&]<int kRows>(index_t i) FENCHEL_INLINE_LAMBDA {
        Lanes<Real> run[kRows] = {};
        multiply_tile<Real>({a.row(i) + first, a.stride, 1}, {rows.row(first) + c, rows.stride}, depth, run);
        for (int r = 0; r < kRows; ++r) {
          double* to = sums.row(i + r) + c;
          for (index_t j = 0; j < kLanes<Real>; ++j) to[j] += double{run[r][j]};
        }
      });
    }
  }
}

template <class Real>
FENCHEL_INLINE void any_add_products(Table<const Real> a, index_t n, Table<const Real> x, index_t m,
                                     index_t cols, Table<Real> rows) noexcept {
  for_each_tile(m, [&]<int kRows>(index_t j) FENCHEL_INLINE_LAMBDA {
    for (index_t c = 0; c < cols; c += kLanes<Real>) {
      Lanes<Real> sums[kRows] = {};
      multiply_tile<Real>({a.data + j, 1, a.stride}, {x.data + c, x.stride}, n, sums);
      for (int r = 0; r < kRows; ++r) store(rows.row(j + r) + c, load(rows.row(j + r) + c) + sums[r]);
    }
  });
}

template <class Real>
FENCHEL_INLINE bool any_are_finite(Table<const Real> rows, index_t m, index_t cols) noexcept {
  Lanes<Real> zeros{};
  Real rest = 0;
  for (index_t j = 0; j < m; ++j) {
    index_t c = 0;
    for (; c + kLanes<Real> <= cols; c += kLanes<Real>) zeros += load(rows.row(j) + c) * Real(0);
    for (; c < cols; ++c) rest += rows.row(j)[c] * Real(0);
  }
  return sum_of<Real>(zeros) + rest == 0;
}

template <class Real>
FENCHEL_INLINE index_t any_select_above(const Real* x, index_t n, Real cut, index_t* places,
                                        Real* values) noexcept {
  const auto above = [x, cut](index_t i) FENCHEL_INLINE_LAMBDA { return !(x[i] <= cut); };
  index_t found = 0;
  for (index_t first = 0; first < n; first += kPlaceBlock)
    found = append_places(first, std::min(kPlaceBlock, n - first), above, places, found);
  for (index_t k = 0; k < found; ++k) values[k] = x[places[k]];
  return found;
}

/// visit.operator()<kVectors>(first column) over groups of four vectors, then single ones; then
/// visit.operator()<0>(column) over the columns that are left.
template <class Real, class Visit>
FENCHEL_INLINE void for_each_column_group(index_t cols, Visit visit) noexcept {
  index_t c = 0;
  for (; c + 4 * kLanes<Real> <= cols; c += 4 * kLanes<Real>) visit.template operator()<4>(c);
  for (; c + kLanes<Real> <= cols; c += kLanes<Real>) visit.template operator()<1>(c);
  for (; c < cols; ++c) visit.template operator()<0>(c);
}

template <class Real>
FENCHEL_INLINE void any_weighted_sum(const Selection<Real>& of, Table<const Real> rows, index_t cols,
                                     Real* out) noexcept {
  constexpr index_t kRun = 32;
  for_each_column_group<Real>(cols, [&]<int kVectors>(index_t c) FENCHEL_INLINE_LAMBDA {
    if constexpr (kVectors == 0) {
      double total = 0;
      for (index_t k = 0; k < of.count; ++k) total += double{of.weights[k]} * rows.row(of.places[k])[c];
      out[c] = static_cast<Real>(total);
    } else {
      constexpr index_t kCols = kVectors * kLanes<Real>;
      double totals[kCols] = {};
      for (index_t first = 0; first < of.count; first += kRun) {
        const index_t end = std::min(first + kRun, of.count);
        Lanes<Real> sums[kVectors] = {};
        for (index_t k = first; k < end; ++k) {
          const Real* row = rows.row(of.places[k]) + c;
          for (int v = 0; v < kVectors; ++v) sums[v] += of.weights[k] * load(row + v * kLanes<Real>);
        }
        Real run[kCols];
        for (int v = 0; v < kVectors; ++v) store(run + v * kLanes<Real>, sums[v]);
        for (index_t j = 0; j < kCols; ++j) totals[j] += double{run[j]};
      }
      for (index_t j = 0; j < kCols; ++j) out[c + j] = static_cast<Real>(totals[j]);
    }
  });
}

template <class Real>
FENCHEL_INLINE void any_dots(const Selection<Real>& with, Table<const Real> rows, index_t cols, const Real* x,
                             Real* out) noexcept {
  for (index_t k = 0; k < with.count; ++k) {
    const Real* row = rows.row(with.places[k]);
    Lanes<Real> sums{};
    Real rest = 0;
    for_each_column_group<Real>(cols, [&]<int kVectors>(index_t c) FENCHEL_INLINE_LAMBDA {
      if constexpr (kVectors == 0) rest += x[c] * row[c];
      for (int v = 0; v < kVectors; ++v)
        sums += load(x + c + v * kLanes<Real>) * load(row + c + v * kLanes<Real>);
    });
    out[k] = static_cast<Real>(sum_of<Real>(sums)) + rest;
  }
}

template <class Real>
FENCHEL_INLINE void any_add_multiples(const Selection<Real>& to, const Real* x, index_t cols,
                                      Table<Real> rows) noexcept {
  for_each_column_group<Real>(cols, [&]<int kVectors>(index_t c) FENCHEL_INLINE_LAMBDA {
    Lanes<Real> own[kVectors + 1];
    for (int v = 0; v < kVectors; ++v) own[v] = load(x + c + v * kLanes<Real>);
    for (index_t k = 0; k < to.count; ++k) {
      Real* row = rows.row(to.places[k]) + c;
      if constexpr (kVectors == 0) *row += to.weights[k] * x[c];
      for (int v = 0; v < kVectors; ++v)
        store(row + v * kLanes<Real>, load(row + v * kLanes<Real>) + to.weights[k] * own[v]);
    }
  });
}

}  // namespace

FENCHEL_CLONES void pack_keys(Table<const float> keys, index_t m, index_t d, float* packed) noexcept {
  any_pack_keys(keys, m, d, packed);
}
FENCHEL_CLONES void pack_keys(Table<const double> keys, index_t m, index_t d, double* packed) noexcept {
  any_pack_keys(keys, m, d, packed);
}
FENCHEL_CLONES void multiply_keys(Table<const float> queries, index_t n, const float* packed, index_t m,
                                  index_t d, float scale, Table<float> z) noexcept {
  any_multiply_keys(queries, n, packed, m, d, scale, z);
}
FENCHEL_CLONES void multiply_keys(Table<const double> queries, index_t n, const double* packed, index_t m,
                                  index_t d, double scale, Table<double> z) noexcept {
  any_multiply_keys(queries, n, packed, m, d, scale, z);
}
FENCHEL_CLONES void multiply_rows(Table<const float> a, index_t n, Table<const float> rows, index_t m,
                                  index_t cols, Table<double> sums) noexcept {
  any_multiply_rows(a, n, rows, m, cols, sums);
}
FENCHEL_CLONES void multiply_rows(Table<const double> a, index_t n, Table<const double> rows, index_t m,
                                  index_t cols, Table<double> sums) noexcept {
  any_multiply_rows(a, n, rows, m, cols, sums);
}
FENCHEL_CLONES void add_products(Table<const float> a, index_t n, Table<const float> x, index_t m,
                                 index_t cols, Table<float> rows) noexcept {
  any_add_products(a, n, x, m, cols, rows);
}
FENCHEL_CLONES void add_products(Table<const double> a, index_t n, Table<const double> x, index_t m,
                                 index_t cols, Table<double> rows) noexcept {
  any_add_products(a, n, x, m, cols, rows);
}
FENCHEL_CLONES bool are_finite(Table<const float> rows, index_t m, index_t cols) noexcept {
  return any_are_finite(rows, m, cols);
}
FENCHEL_CLONES bool are_finite(Table<const double> rows, index_t m, index_t cols) noexcept {
  return any_are_finite(rows, m, cols);
}
FENCHEL_CLONES index_t select_above(const float* x, index_t n, float cut, index_t* places,
                                    float* values) noexcept {
  return any_select_above(x, n, cut, places, values);
}
FENCHEL_CLONES index_t select_above(const double* x, index_t n, double cut, index_t* places,
                                    double* values) noexcept {
  return any_select_above(x, n, cut, places, values);
}
FENCHEL_CLONES void weighted_sum(const Selection<float>& of, Table<const float> rows, index_t cols,
                                 float* out) noexcept {
  any_weighted_sum(of, rows, cols, out);
}
FENCHEL_CLONES void weighted_sum(const Selection<double>& of, Table<const double> rows, index_t cols,
                                 double* out) noexcept {
  any_weighted_sum(of, rows, cols, out);
}
FENCHEL_CLONES void dots(const Selection<float>& with, Table<const float> rows, index_t cols, const float* x,
                         float* out) noexcept {
  any_dots(with, rows, cols, x, out);
}
FENCHEL_CLONES void dots(const Selection<double>& with, Table<const double> rows, index_t cols,
                         const double* x, double* out) noexcept {
  any_dots(with, rows, cols, x, out);
}
FENCHEL_CLONES void add_multiples(const Selection<float>& to, const float* x, index_t cols,
                                  Table<float> rows) noexcept {
  any_add_multiples(to, x, cols, rows);
}
FENCHEL_CLONES void add_multiples(const Selection<double>& to, const double* x, index_t cols,
                                  Table<double> rows) noexcept {
  any_add_multiples(to, x, cols, rows);
}

}  // namespace fenchel::detail
