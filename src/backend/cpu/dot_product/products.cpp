#include "backend/cpu/dot_product/products.hpp"

#include <algorithm>

#include "backend/cpu/row_lanes.hpp"

namespace fenchel::detail {
namespace {

template <class Real>
FENCHEL_INLINE void any_pack_keys(Table<const Real> keys, index_t m, index_t d, Real* packed) noexcept {
  constexpr index_t kPanel = kLanes<Real>;
  for (index_t first = 0; first < m; first += kPanel, packed += kPanel * d) {
    const index_t count = std::min(kPanel, m - first);
    if (count < kPanel) fill(packed, kPanel * d, Real(0));
    for (index_t j = 0; j < count; ++j) {
      const Real* key = keys.row(first + j);
      for (index_t k = 0; k < d; ++k) packed[k * kPanel + j] = key[k];
    }
  }
}

/// As many numbers as a register has. Sums of whole lanes would stay in memory, where they are more than one
/// register.
template <class Real, int kBytes>
struct RegisterOf {
  typedef Real Type __attribute__((vector_size(kBytes)));
};
template <class Real, int kBytes>
using Register = typename RegisterOf<Real, kBytes>::Type;
template <class Real, int kBytes>
constexpr index_t kWidth = kBytes / static_cast<index_t>(sizeof(Real));

template <int kBytes, class Real>
FENCHEL_INLINE Register<Real, kBytes> load_register(const Real* from) noexcept {
  Register<Real, kBytes> numbers;
  std::memcpy(&numbers, from, sizeof numbers);
  return numbers;
}

template <int kBytes, class Real>
FENCHEL_INLINE void store_register(Real* to, Register<Real, kBytes> numbers) noexcept {
  std::memcpy(to, &numbers, sizeof numbers);
}

/// run.operator()<kBytes>() with the width of the registers that this clone has.
template <class Run>
FENCHEL_INLINE auto with_registers(Run run) noexcept {
#ifdef FENCHEL_USE_TARGET_CLONES
  if (__builtin_cpu_supports("x86-64-v4")) return run.template operator()<64>();
  if (__builtin_cpu_supports("x86-64-v3")) return run.template operator()<32>();
  return run.template operator()<16>();
#elif defined(__AVX512F__)
  return run.template operator()<64>();
#elif defined(__AVX__)
  return run.template operator()<32>();
#else
  return run.template operator()<16>();
#endif
}

/// Some rows of lanes, in registers.
template <class Real, int kBytes, int kRows>
struct Tile {
  static constexpr int kParts = 64 / kBytes;
  Register<Real, kBytes> parts[kRows][kParts] = {};

  FENCHEL_INLINE void store_row(int i, Real* to) const noexcept {
    for (int v = 0; v < kParts; ++v) store_register<kBytes>(to + v * kWidth<Real, kBytes>, parts[i][v]);
  }
};

/// How many rows are multiplied together: as many as have their sums in the registers, of which there are 32
/// or 16.
template <int kBytes>
constexpr int kTileRows = kBytes == 64   ? 12
                          : kBytes == 32 ? 6
                                         : 3;

/// Numbers a_ik at any step between rows and columns.
template <class Real>
struct Steps {
  const Real* data;
  index_t row, col;
};

/// sum_k a_ik b_k over the lanes of the rows b, k < depth. The order of a sum does not depend on the tile.
template <int kBytes, int kRows, class Real>
FENCHEL_INLINE Tile<Real, kBytes, kRows> multiply_tile(Steps<Real> a, Table<const Real> b,
                                                       index_t depth) noexcept {
  using Sums = Tile<Real, kBytes, kRows>;
  Sums sums;
  for (index_t k = 0; k < depth; ++k) {
    Register<Real, kBytes> row[Sums::kParts];
#pragma GCC unroll 4
    for (int v = 0; v < Sums::kParts; ++v)
      row[v] = load_register<kBytes>(b.row(k) + v * kWidth<Real, kBytes>);
#pragma GCC unroll 12
    for (int i = 0; i < kRows; ++i) {
      const Real own = a.data[i * a.row + k * a.col];
#pragma GCC unroll 4
      for (int v = 0; v < Sums::kParts; ++v) sums.parts[i][v] += own * row[v];
    }
  }
  return sums;
}

/// visit.operator()<kRows>(first row) over tiles, then the rows that are left.
template <int kBytes, class Visit>
FENCHEL_INLINE void for_each_tile(index_t n, Visit visit) noexcept {
  constexpr int kRows = kTileRows<kBytes>;
  index_t i = 0;
  for (; i + kRows <= n; i += kRows) visit.template operator()<kRows>(i);
  for (; i < n; ++i) visit.template operator()<1>(i);
}

template <class Real>
FENCHEL_INLINE void any_multiply_keys(Table<const Real> queries, index_t n, const Real* packed, index_t m,
                                      index_t d, Real scale, Table<Real> z) noexcept {
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    for (index_t j = 0; j < m; j += kLanes<Real>) {
      const Table<const Real> panel{packed + j * d, kLanes<Real>};
      for_each_tile<kBytes>(n, [&]<int kRows>(index_t i) FENCHEL_INLINE_LAMBDA {
        auto sums = multiply_tile<kBytes, kRows, Real>({queries.row(i), queries.stride, 1}, panel, d);
        for (int r = 0; r < kRows; ++r) {
          for (auto& part : sums.parts[r]) part *= scale;
          sums.store_row(r, z.row(i + r) + j);
        }
      });
    }
  });
}

template <class Real>
FENCHEL_INLINE void any_multiply_rows(Table<const Real> a, index_t n, Table<const Real> rows, index_t m,
                                      index_t cols, Table<double> sums) noexcept {
  constexpr index_t kRun = 64;
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    for (index_t first = 0; first < m; first += kRun) {
      const index_t depth = std::min(kRun, m - first);
      for (index_t c = 0; c < cols; c += kLanes<Real>) {
        for_each_tile<kBytes>(n, [&]<int kRows>(index_t i) FENCHEL_INLINE_LAMBDA {
          const auto tile = multiply_tile<kBytes, kRows, Real>({a.row(i) + first, a.stride, 1},
                                                               {rows.row(first) + c, rows.stride}, depth);
          Real run[kRows][kLanes<Real>];
          for (int r = 0; r < kRows; ++r) tile.store_row(r, run[r]);
          for (int r = 0; r < kRows; ++r) {
            double* to = sums.row(i + r) + c;
            for (index_t j = 0; j < kLanes<Real>; ++j) to[j] += double{run[r][j]};
          }
        });
      }
    }
  });
}

template <class Real>
FENCHEL_INLINE void any_add_products(Table<const Real> a, index_t n, Table<const Real> x, index_t m,
                                     index_t cols, Table<Real> rows) noexcept {
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    for_each_tile<kBytes>(m, [&]<int kRows>(index_t j) FENCHEL_INLINE_LAMBDA {
      for (index_t c = 0; c < cols; c += kLanes<Real>) {
        auto sums = multiply_tile<kBytes, kRows, Real>({a.data + j, 1, a.stride}, {x.data + c, x.stride}, n);
        for (int r = 0; r < kRows; ++r) {
          Real* row = rows.row(j + r) + c;
          for (int v = 0; v < sums.kParts; ++v)
            sums.parts[r][v] += load_register<kBytes>(row + v * kWidth<Real, kBytes>);
          sums.store_row(r, row);
        }
      }
    });
  });
}

template <class Real>
FENCHEL_INLINE bool any_are_finite(Table<const Real> rows, index_t m, index_t cols) noexcept {
  Real zeros[kLanes<Real>] = {};
  for (index_t j = 0; j < m; ++j) {
    const Real* row = rows.row(j);
    index_t c = 0;
    for (; c + kLanes<Real> <= cols; c += kLanes<Real>) {
      for (index_t k = 0; k < kLanes<Real>; ++k) zeros[k] += row[c + k] * Real(0);
    }
    for (; c < cols; ++c) zeros[0] += row[c] * Real(0);
  }
  return std::all_of(zeros, zeros + kLanes<Real>, [](Real zero) { return zero == 0; });
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

/// visit.operator()<kRegisters>(first column) over groups of registers, four and one of them lanes wide; then
/// visit.operator()<0>(column) over the columns that are left.
template <class Real, int kBytes, class Visit>
FENCHEL_INLINE void for_each_column_group(index_t cols, Visit visit) noexcept {
  constexpr int kParts = 64 / kBytes;
  index_t c = 0;
  for (; c + 4 * kLanes<Real> <= cols; c += 4 * kLanes<Real>) visit.template operator()<4 * kParts>(c);
  for (; c + kLanes<Real> <= cols; c += kLanes<Real>) visit.template operator()<kParts>(c);
  for (; c < cols; ++c) visit.template operator()<0>(c);
}

template <class Real>
FENCHEL_INLINE void any_weighted_sum(const Selection<Real>& of, Table<const Real> rows, index_t cols,
                                     Real* out) noexcept {
  constexpr index_t kRun = 32;
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    for_each_column_group<Real, kBytes>(cols, [&]<int kRegisters>(index_t c) FENCHEL_INLINE_LAMBDA {
      if constexpr (kRegisters == 0) {
        double total = 0;
        for (index_t k = 0; k < of.count; ++k) total += double{of.weights[k]} * rows.row(of.places[k])[c];
        out[c] = static_cast<Real>(total);
      } else {
        constexpr index_t kStep = kWidth<Real, kBytes>, kCols = kRegisters * kStep;
        double totals[kCols] = {};
        for (index_t first = 0; first < of.count; first += kRun) {
          const index_t end = std::min(first + kRun, of.count);
          Register<Real, kBytes> sums[kRegisters] = {};
          for (index_t k = first; k < end; ++k) {
            const Real* row = rows.row(of.places[k]) + c;
#pragma GCC unroll 16
            for (int v = 0; v < kRegisters; ++v)
              sums[v] += of.weights[k] * load_register<kBytes>(row + v * kStep);
          }
          Real run[kCols];
          for (int v = 0; v < kRegisters; ++v) store_register<kBytes>(run + v * kStep, sums[v]);
          for (index_t j = 0; j < kCols; ++j) totals[j] += double{run[j]};
        }
        for (index_t j = 0; j < kCols; ++j) out[c + j] = static_cast<Real>(totals[j]);
      }
    });
  });
}

template <class Real>
FENCHEL_INLINE void any_dots(const Selection<Real>& with, Table<const Real> rows, index_t cols, const Real* x,
                             Real* out) noexcept {
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    constexpr index_t kStep = kWidth<Real, kBytes>;
    for (index_t k = 0; k < with.count; ++k) {
      const Real* row = rows.row(with.places[k]);
      Tile<Real, kBytes, 1> sums;
      Real rest = 0;
      for_each_column_group<Real, kBytes>(cols, [&]<int kRegisters>(index_t c) FENCHEL_INLINE_LAMBDA {
        if constexpr (kRegisters == 0) rest += x[c] * row[c];
#pragma GCC unroll 16
        for (int v = 0; v < kRegisters; ++v)
          sums.parts[0][v % sums.kParts] +=
              load_register<kBytes>(x + c + v * kStep) * load_register<kBytes>(row + c + v * kStep);
      });
      Real lanes[kLanes<Real>];
      sums.store_row(0, lanes);
      out[k] = static_cast<Real>(sum_of<Real>(load(lanes))) + rest;
    }
  });
}

template <class Real>
FENCHEL_INLINE void any_add_multiples(const Selection<Real>& to, const Real* x, index_t cols,
                                      Table<Real> rows) noexcept {
  with_registers([&]<int kBytes>() FENCHEL_INLINE_LAMBDA {
    constexpr index_t kStep = kWidth<Real, kBytes>;
    for_each_column_group<Real, kBytes>(cols, [&]<int kRegisters>(index_t c) FENCHEL_INLINE_LAMBDA {
      Register<Real, kBytes> own[kRegisters + 1];
#pragma GCC unroll 16
      for (int v = 0; v < kRegisters; ++v) own[v] = load_register<kBytes>(x + c + v * kStep);
      for (index_t k = 0; k < to.count; ++k) {
        Real* row = rows.row(to.places[k]) + c;
        const Real weight = to.weights[k];
        if constexpr (kRegisters == 0) *row += weight * x[c];
#pragma GCC unroll 16
        for (int v = 0; v < kRegisters; ++v)
          store_register<kBytes>(row + v * kStep, load_register<kBytes>(row + v * kStep) + weight * own[v]);
      }
    });
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
