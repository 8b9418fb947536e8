#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"

/// Rows of a matrix that a list names, as a warp goes through them: each of its four groups of eight lanes
/// has a row at a time, and a lane 16 bytes of it for each 64 columns.
namespace fenchel::cuda::device {

inline constexpr int kGroup = 8, kGroups = kWarp / kGroup;
/// Rows that are read before the first is used.
inline constexpr int kTogether = 4;

__device__ inline int lane_of_group() { return static_cast<int>(threadIdx.x % kGroup); }
__device__ inline int group_of_warp() { return static_cast<int>(threadIdx.x % kWarp) / kGroup; }

/// Where the lane's pieces of a row with so many columns begin; where it has none, the row's first one, which
/// is read and not used.
template <int kCols>
struct LaneColumns {
  static constexpr int kPieces = kCols / 64;
  int first[kPieces];

  __device__ explicit LaneColumns(index_t cols) {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 64 * c + 8 * lane_of_group();
      first[c] = column < cols ? column : 0;
    }
  }
};

/// As it is read.
template <class T, int kCols>
struct RowWords {
  static constexpr int kPieces = kCols / 64;
  uint4 words[kPieces];

  __device__ void load(const T* row, const LaneColumns<kCols>& columns) {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) words[c] = *reinterpret_cast<const uint4*>(row + columns.first[c]);
  }
};

/// As it is computed with.
template <class T, int kCols>
struct RowPieces {
  static constexpr int kPieces = kCols / 64;
  float values[kPieces][8];

  /// 0 in the lanes that have no such columns.
  __device__ void load(const T* row, int cols) {
    RowWords<T, kCols> x;
    x.load(row, LaneColumns<kCols>(cols));
    clear();
    add(1.0f, x);
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        if (64 * c + 8 * lane_of_group() >= cols) values[c][e] = 0;
      }
    }
  }
  __device__ void clear() {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] = 0;
    }
  }
  __device__ void add(float factor, const RowWords<T, kCols>& x) {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const Numbers<T> numbers = unpacked<T>(x.words[c]);
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] = fmaf(factor, numbers.values[e], values[c][e]);
    }
  }
  /// Of kCols numbers in a row.
  __device__ void add(const float* row) {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] += row[64 * c + 8 * lane_of_group() + e];
    }
  }
  /// The lane's part of <this, x>.
  [[nodiscard]] __device__ float own_product(const RowWords<T, kCols>& x) const {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const Numbers<T> numbers = unpacked<T>(x.words[c]);
#pragma unroll
      for (int e = 0; e < 8; ++e) sum = fmaf(values[c][e], numbers.values[e], sum);
    }
    return sum;
  }
  [[nodiscard]] __device__ float product(const RowPieces& x) const {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) sum = fmaf(values[c][e], x.values[c][e], sum);
    }
    return sum;
  }
  /// The sum over the four groups of eight lanes.
  __device__ void over_groups() {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) {
        values[c][e] += __shfl_xor_sync(kAllLanes, values[c][e], 8);
        values[c][e] += __shfl_xor_sync(kAllLanes, values[c][e], 16);
      }
    }
  }
  __device__ void store(T* row, int cols, float factor) const {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 64 * c + 8 * lane_of_group();
      if (column >= cols) continue;
      float scaled[8];
#pragma unroll
      for (int e = 0; e < 8; ++e) scaled[e] = factor * values[c][e];
      *reinterpret_cast<uint4*>(row + column) = words_of(packed<T, 8>(scaled));
    }
  }
};

/// The number of the group's lane t.
template <class Number>
__device__ inline Number of_lane(Number own, int t) {
  return __shfl_sync(kAllLanes, own, t, kGroup);
}
/// Sums over the lanes of a group: lane t gets that of x[t].
__device__ inline float sum_of_own(float (&x)[kGroup]) {
#pragma unroll
  for (int distance = kGroup / 2; distance >= 1; distance /= 2) {
    const bool upper = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int t = 0; t < distance; ++t) {
      const float given = upper ? x[t] : x[t + distance];
      x[t] = (upper ? x[t + distance] : x[t]) + __shfl_xor_sync(kAllLanes, given, distance);
    }
  }
  return x[0];
}

/// The list of a group's query, eight entries at a time, one for each lane. All groups of a warp go through
/// as many; behind the end of a list its last key comes again, with weight 0. The first ones are read at
/// once.
class GroupEntries {
 public:
  __device__ GroupEntries(const SupportRows& support, index_t row, SupportRows::List list)
      : support_(support), row_(row), list_(list), most_(list.count) {
#pragma unroll
    for (int distance = kGroup; distance < kWarp; distance *= 2)
      most_ = max(most_, __shfl_xor_sync(kAllLanes, most_, distance));
    first_ = entry(lane_of_group());
  }
  /// body(entry, e) for each eight entries, where this lane has the e-th of the list.
  template <class Body>
  __device__ void for_each(const Body& body) const {
    for (int block = 0; block < most_; block += kGroup) {
      const int e = block + lane_of_group();
      Entry own = block == 0 ? first_ : entry(e);
      if (!has(e)) own.weight = 0;
      body(own, e);
    }
  }
  [[nodiscard]] __device__ bool has(int e) const { return e < list_.count; }
  /// body(first) for the eight lanes of the entries from the e-th of this lane on, kTogether at a time, as
  /// far as any group has them.
  template <class Body>
  __device__ void for_each_lanes(int e, const Body& body) const {
#pragma unroll
    for (int first = 0; first < kGroup; first += kTogether) {
      if (e - lane_of_group() + first < most_) body(first);
    }
  }

 private:
  [[nodiscard]] __device__ Entry entry(int e) const {
    return list_.count > 0 ? support_.entry(row_, list_.first + min(e, list_.count - 1)) : Entry{0, 0};
  }

  const SupportRows& support_;
  index_t row_;
  SupportRows::List list_;
  int most_;
  Entry first_;
};

/// sums += factor row, for the rows of the lanes of a group from `first` on.
template <class T, int kCols>
__device__ inline void add_rows(RowPieces<T, kCols>& sums, const T* matrix, index_t stride,
                                const LaneColumns<kCols>& columns, int own_row, float own_factor, int first) {
  RowWords<T, kCols> row[kTogether];
#pragma unroll
  for (int t = 0; t < kTogether; ++t) row[t].load(matrix + of_lane(own_row, first + t) * stride, columns);
#pragma unroll
  for (int t = 0; t < kTogether; ++t) sums.add(of_lane(own_factor, first + t), row[t]);
}

}  // namespace fenchel::cuda::device
