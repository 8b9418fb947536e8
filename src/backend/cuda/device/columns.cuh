#pragma once

#include "backend/cuda/device/reduce.cuh"
#include "backend/cuda/device/sums.cuh"
#include "core/team_code.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

/// The columns of a row as the threads of a team visit them, for code that is written once for the CPU and
/// the GPU; the CPU's is core/columns.hpp, which says what the members do.
namespace fenchel::cuda::device {

struct SmallerEach {
  template <int kCount>
  __device__ Sums<kCount> operator()(const Sums<kCount>& x, const Sums<kCount>& y) const {
    Sums<kCount> smaller;
#pragma unroll
    for (int k = 0; k < kCount; ++k) smaller.of[k] = y.of[k] < x.of[k] ? y.of[k] : x.of[k];
    return smaller;
  }
};

/// A column with a key; none is -1.
struct KeyedColumn {
  double key;
  index_t column;

  [[nodiscard]] __device__ KeyedColumn shuffled(int distance) const {
    return {__shfl_xor_sync(kAllLanes, key, distance), __shfl_xor_sync(kAllLanes, column, distance)};
  }
};
struct FirstLargest {
  __device__ KeyedColumn operator()(const KeyedColumn& x, const KeyedColumn& y) const {
    if (y.column < 0 || x.column < 0) return x.column < 0 ? y : x;
    return y.key > x.key || (y.key == x.key && y.column < x.column) ? y : x;
  }
};

template <class Team>
class TeamColumns {
 public:
  static constexpr double kRounding = 1e-15;  // of sums that are not compensated, as the CPU's are

  __device__ TeamColumns(Team& team, index_t cols) : team_(team), cols_(cols) {}

  template <int kCount, class Terms>
  [[nodiscard]] __device__ detail::Totals<kCount> sum(const Terms& terms,
                                                      const detail::Totals<kCount>& first = {},
                                                      const detail::Totals<kCount>& second = {}) {
    Sums<kCount> sums{};
    each([&](index_t j) {
      const detail::Totals<kCount> term = terms(j);
#pragma unroll
      for (int k = 0; k < kCount; ++k) sums.of[k] += term.of[k];
    });
    sums = team_.reduce(sums, PlusEach());
    detail::Totals<kCount> result;
#pragma unroll
    for (int k = 0; k < kCount; ++k) result.of[k] = first.of[k] + (second.of[k] + sums.of[k]);
    return result;
  }
  template <class Term>
  [[nodiscard]] __device__ bool reaches_one(const Term& term) {
    return sum<1>([&](index_t j) { return detail::Totals<1>{{term(j)}}; }).of[0] >= 1;
  }
  template <int kCount, class Values>
  [[nodiscard]] __device__ detail::Totals<kCount> smallest(const Values& values) {
    Sums<kCount> found;
#pragma unroll
    for (int k = 0; k < kCount; ++k) found.of[k] = kInfinity;
    each([&](index_t j) {
      const detail::Totals<kCount> value = values(j);
#pragma unroll
      for (int k = 0; k < kCount; ++k) found.of[k] = value.of[k] < found.of[k] ? value.of[k] : found.of[k];
    });
    found = team_.reduce(found, SmallerEach());
    detail::Totals<kCount> result;
#pragma unroll
    for (int k = 0; k < kCount; ++k) result.of[k] = found.of[k];
    return result;
  }
  template <class Key>
  [[nodiscard]] __device__ index_t first_largest(const Key& key) {
    KeyedColumn found{-kInfinity, -1};
    each([&](index_t j) {
      const double own = key(j);
      if (own > -kInfinity) found = FirstLargest()(found, {own, j});
    });
    return team_.reduce(found, FirstLargest()).column;
  }
  template <class Body>
  __device__ void each(const Body& body) const {
#pragma unroll 1
    for (index_t j = team_.rank(); j < cols_; j += Team::kSize) body(j);
  }
  /// By the thread that writes what a row has one of.
  [[nodiscard]] __device__ bool first() const { return team_.rank() == 0; }

 private:
  Team& team_;
  index_t cols_;
};

}  // namespace fenchel::cuda::device
