#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"

/// A row of a matrix and the entries of a query, as a warp goes through them: the four groups of eight lanes
/// have four entries at a time, and a lane 16 bytes of each row.
namespace fenchel::cuda::device {

/// As it is read.
template <class T, int kCols>
struct RowWords {
  static constexpr int kPieces = kCols / 64;
  uint4 words[kPieces];

  /// 0 where there is none.
  __device__ void load(const T* row, int cols, bool there) {
    const int piece = threadIdx.x % 8;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 64 * c + 8 * piece;
      words[c] = there && column < cols ? *reinterpret_cast<const uint4*>(row + column) : uint4{0, 0, 0, 0};
    }
  }
};

/// As it is computed with.
template <class T, int kCols>
struct RowPieces {
  static constexpr int kPieces = kCols / 64;
  float values[kPieces][8];

  __device__ void load(const T* row, int cols) {
    RowWords<T, kCols> x;
    x.load(row, cols, true);
    clear();
    add(1.0f, x);
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
  /// By the first group.
  __device__ void store(T* row, int cols, float factor) const {
    if (threadIdx.x % kWarp >= 8) return;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 64 * c + 8 * static_cast<int>(threadIdx.x % 8);
      if (column >= cols) continue;
      float scaled[8];
#pragma unroll
      for (int e = 0; e < 8; ++e) scaled[e] = factor * values[c][e];
      *reinterpret_cast<uint4*>(row + column) = words_of(packed<T, 8>(scaled));
    }
  }
};

/// Something of 32 entries, one in each lane: lane 8 g + t has entry 4 t + g, which group g has in turn t.
/// Rows are read in kTogether turns before they are used.
inline constexpr int kTurns = 8, kTogether = 4;
__device__ inline int own_entry() {
  return 4 * static_cast<int>(threadIdx.x % 8) + static_cast<int>(threadIdx.x % kWarp) / 8;
}
/// Whether the group has one of so many entries in a turn.
__device__ inline bool has_turn(int count, int turn) {
  return 4 * turn + static_cast<int>(threadIdx.x % kWarp) / 8 < count;
}
template <class Number>
__device__ inline Number in_turn(Number own, int turn) {
  return __shfl_sync(kAllLanes, own, turn, 8);
}
/// body(first) for the turns that so many entries take, kTogether from the first on.
template <class Body>
__device__ inline void for_each_turns(int count, const Body& body) {
#pragma unroll
  for (int first = 0; first < kTurns; first += kTogether) {
    if (4 * first < count) body(first);
  }
}
/// Sums over the eight lanes of a group: lane t gets that of turn t.
__device__ inline float sum_of_own_turn(float (&x)[kTurns]) {
#pragma unroll
  for (int distance = kTurns / 2; distance >= 1; distance /= 2) {
    const bool upper = (threadIdx.x & distance) != 0;
#pragma unroll
    for (int t = 0; t < distance; ++t) {
      const float given = upper ? x[t] : x[t + distance];
      x[t] = (upper ? x[t + distance] : x[t]) + __shfl_xor_sync(kAllLanes, given, distance);
    }
  }
  return x[0];
}

}  // namespace fenchel::cuda::device
