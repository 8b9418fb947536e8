#pragma once

#include "core/lanes/lanes.hpp"
#include "core/scratch.hpp"
#include "fenchel/core/index.hpp"

/// The products of attention. Each is compiled for several instruction sets.
namespace fenchel::detail {

/// Rows of numbers that stand `stride` apart.
template <class T>
struct Table {
  T* data = nullptr;
  index_t stride = 0;

  [[nodiscard]] FENCHEL_INLINE T* row(index_t i) const noexcept { return data + i * stride; }
  [[nodiscard]] Table from_row(index_t i) const noexcept { return {row(i), stride}; }
  [[nodiscard]] Table from_column(index_t j) const noexcept { return {data + j, stride}; }
};

/// Some rows of a table and a weight for each.
template <class Real>
struct Selection {
  index_t count;
  const index_t* places;
  const Real* weights;
};

/// How many numbers m packed keys of d numbers take.
template <class Real>
constexpr index_t packed_size(index_t m, index_t d) noexcept {
  return (m + kLanes<Real> - 1) / kLanes<Real> * kLanes<Real> * d;
}

/// Keys in panels as wide as the lanes: number k of all keys of a panel, then number k + 1. The last panel is
/// filled up with zeros.
void pack_keys(Table<const float> keys, index_t m, index_t d, float* packed) noexcept;
void pack_keys(Table<const double> keys, index_t m, index_t d, double* packed) noexcept;

/// z = scale <query, key> of n queries and m packed keys; rows of z have room for whole panels.
void multiply_keys(Table<const float> queries, index_t n, const float* packed, index_t m, index_t d,
                   float scale, Table<float> z) noexcept;
void multiply_keys(Table<const double> queries, index_t n, const double* packed, index_t m, index_t d,
                   double scale, Table<double> z) noexcept;

/// sums_i += sum_j a_ij row_j, of n by m weights and m rows; cols fill whole lanes. Runs of rows are added up
/// in double, as in weighted_sum.
void multiply_rows(Table<const float> a, index_t n, Table<const float> rows, index_t m, index_t cols,
                   Table<double> sums) noexcept;
void multiply_rows(Table<const double> a, index_t n, Table<const double> rows, index_t m, index_t cols,
                   Table<double> sums) noexcept;

/// rows_j += sum_i a_ij x_i, of n by m weights and n rows x; cols fill whole lanes.
void add_products(Table<const float> a, index_t n, Table<const float> x, index_t m, index_t cols,
                  Table<float> rows) noexcept;
void add_products(Table<const double> a, index_t n, Table<const double> x, index_t m, index_t cols,
                  Table<double> rows) noexcept;

/// Whether there is neither NaN nor infinity: 0 times each number is 0.
bool are_finite(Table<const float> rows, index_t m, index_t cols) noexcept;
bool are_finite(Table<const double> rows, index_t m, index_t cols) noexcept;

/// The places of x > cut and of NaN, and these numbers; how many. Both have room for n and a little more.
index_t select_above(const float* x, index_t n, float cut, index_t* places, float* values) noexcept;
index_t select_above(const double* x, index_t n, double cut, index_t* places, double* values) noexcept;

/// out = sum weight row. Runs of rows are added up in double, so that equal weights do not all round the same
/// way.
void weighted_sum(const Selection<float>& of, Table<const float> rows, index_t cols, float* out) noexcept;
void weighted_sum(const Selection<double>& of, Table<const double> rows, index_t cols, double* out) noexcept;

/// out_k = <x, row k of those selected>; the weights are not read.
void dots(const Selection<float>& with, Table<const float> rows, index_t cols, const float* x,
          float* out) noexcept;
void dots(const Selection<double>& with, Table<const double> rows, index_t cols, const double* x,
          double* out) noexcept;

/// row += weight x, for each of the rows that are selected.
void add_multiples(const Selection<float>& to, const float* x, index_t cols, Table<float> rows) noexcept;
void add_multiples(const Selection<double>& to, const double* x, index_t cols, Table<double> rows) noexcept;

}  // namespace fenchel::detail
