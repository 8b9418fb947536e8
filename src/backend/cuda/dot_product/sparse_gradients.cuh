#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"
#include "backend/cuda/dot_product/transposed.cuh"
#include "backend/entmax/terms.hpp"

/// Gradients of rows whose support is in the record: with u = p^{2-alpha}, dp_j = <cotangent, value_j> and
/// its mean under u, that of the score j is u_j (dp_j - mean) [docs/math.md 2].
namespace fenchel::cuda::device {

/// A row of a matrix, 16 bytes in each of eight lanes, kCols / 64 times.
template <class T, int kCols>
struct RowPieces {
  static constexpr int kPieces = kCols / 64;
  float values[kPieces][8];

  /// 0 where there is none.
  __device__ void load(const T* row, int cols, bool there) {
    const int piece = threadIdx.x % 8;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 64 * c + 8 * piece;
      const uint4 words =
          there && column < cols ? *reinterpret_cast<const uint4*>(row + column) : uint4{0, 0, 0, 0};
      const Numbers<T> numbers = unpacked<T>(words);
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] = numbers.values[e];
    }
  }
  __device__ void clear() {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] = 0;
    }
  }
  __device__ void add(float factor, const RowPieces& x) {
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) values[c][e] = fmaf(factor, x.values[c][e], values[c][e]);
    }
  }
  /// <this, x>, given to the eight lanes.
  [[nodiscard]] __device__ float dot(const RowPieces& x) const {
    float sum = 0;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) sum = fmaf(values[c][e], x.values[c][e], sum);
    }
    return warp_reduce<8>(sum, Plus());
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

/// Over the four groups of eight lanes.
__device__ inline float sum_over_groups(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 8);
  return x + __shfl_xor_sync(kAllLanes, x, 16);
}

/// p^{2-alpha}, of a weight.
__device__ inline float escort_of(float p, float am1) {
  return am1 == 1 ? 1.0f : am1 == 0.5f ? sqrtf(p) : powf(p, 1 - am1);
}

/// The gradients in the queries, in alpha and in scale, and those of the scores, which are kept for the keys:
/// a warp for each query.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads)
    gradients_in_sparse_queries(const DotProducts<T> x, const Rows<float> normalizers,
                                const SupportRows support, const Matrices<const T> cotangent,
                                const DotProductGradients<T, float> gradient, float* score_gradients) {
  constexpr int kMostTurns = SupportRows::kCapacity / 4;
  const index_t row = (static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp, n = x.query.rows;
  if (row >= normalizers.rows || support.count(row) == kNoList) return;
  const index_t head = row / n, i = row % n, b = head / x.query.heads, h = head % x.query.heads;
  const index_t g = h / (x.query.heads / x.key.heads);
  const int count = support.count(row), group = threadIdx.x % kWarp / 8;
  const Entry* const entries = support.entries(row);
  const auto am1 = static_cast<float>(x.alpha[h] - 1), scale = static_cast<float>(x.scale[h]);
  const int key_cols = static_cast<int>(x.key.cols), value_cols = static_cast<int>(x.value.cols);

  RowPieces<T, kE> upstream;
  upstream.load(cotangent.row(b, h, i), value_cols, true);
  Entry entry[kMostTurns];
  float dp[kMostTurns];
  float centre = 0;
#pragma unroll
  for (int turn = 0; turn < kMostTurns; ++turn) {
    if (4 * turn >= count) break;
    const bool there = 4 * turn + group < count;
    entry[turn] = there ? entries[4 * turn + group] : Entry{0, 0};
    RowPieces<T, kE> value;
    value.load(x.value.row(b, g, entry[turn].key), value_cols, there);
    dp[turn] = upstream.dot(value);
    centre += entry[turn].weight * dp[turn];
  }
  // About their mean under p, so that the digits of a weight near one are not lost.
  centre = sum_over_groups(centre);
  float mass = 0, moment = 0;
#pragma unroll
  for (int turn = 0; turn < kMostTurns; ++turn) {
    if (4 * turn >= count) break;
    const float p = entry[turn].weight, u = p > 0 ? escort_of(p, am1) : 0.0f;
    mass += u;
    moment += u * (dp[turn] - centre);
  }
  const float mean = centre + sum_over_groups(moment) / sum_over_groups(mass);
  RowPieces<T, kD> sum;
  sum.clear();
  double along = 0;
#pragma unroll
  for (int turn = 0; turn < kMostTurns; ++turn) {
    if (4 * turn >= count) break;
    const bool there = 4 * turn + group < count;
    const float p = entry[turn].weight, slope = p > 0 ? escort_of(p, am1) * (dp[turn] - mean) : 0.0f;
    if (there && threadIdx.x % 8 == 0)
      score_gradients[row * SupportRows::kCapacity + 4 * turn + group] = slope;
    if (gradient.alpha.data != nullptr && there) along -= slope * detail::alpha_direction(x.alpha[h], p);
    RowPieces<T, kD> key;
    key.load(x.key.row(b, g, entry[turn].key), key_cols, there);
    sum.add(slope, key);
  }
  sum.over_groups();
  const float top = normalizers.row(row)[0];
  const float poison = top < __builtin_huge_valf() ? 1.0f : __int_as_float(0x7fffffff);
  if (gradient.query.data != nullptr) sum.store(gradient.query.row(b, h, i), key_cols, scale * poison);
  if (gradient.alpha.data != nullptr) {
    const float total = sum_over_groups(static_cast<float>(along));
    if (threadIdx.x % kWarp == 0) *gradient.alpha.row(row) = total * poison;
  }
  if (gradient.scale.data != nullptr) {
    RowPieces<T, kD> query;
    query.load(x.query.row(b, h, i), key_cols, true);
    const float total = query.dot(sum);
    if (threadIdx.x % kWarp == 0) *gradient.scale.row(row) = total * poison;
  }
}

/// The gradients in keys and values: a warp for each key, which goes through its queries in their order. What
/// dense rows add is there already.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads)
    gradients_in_keys(const DotProducts<T> x, const SupportRows support, const Matrices<const T> cotangent,
                      const DotProductGradients<T, float> gradient, const Transposed lists) {
  const index_t at = (static_cast<index_t>(blockIdx.x) * kThreads + threadIdx.x) / kWarp, m = x.key.rows;
  if (at >= lists.heads * m) return;
  const index_t head = at / m, k = at % m, b = head / x.key.heads, g = head % x.key.heads;
  const index_t n = x.query.rows, sharing = x.query.heads / x.key.heads, first_row = head * sharing * n;
  constexpr int kCapacity = SupportRows::kCapacity;
  const int group = threadIdx.x % kWarp / 8;
  const int key_cols = static_cast<int>(x.key.cols), value_cols = static_cast<int>(x.value.cols);
  RowPieces<T, kD> to_key;
  RowPieces<T, kE> to_value;
  to_key.clear();
  to_value.clear();
  const std::int32_t* const places = lists.places + first_row * kCapacity;
  const std::int32_t begin = lists.begin[head * (m + 1) + k], end = lists.begin[head * (m + 1) + k + 1];
  constexpr int kTogether = 2;
  for (std::int32_t first = begin; first < end; first += 4 * kTogether) {
    RowPieces<T, kD> query[kTogether];
    RowPieces<T, kE> upstream[kTogether];
    float p[kTogether], slope[kTogether];
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      const std::int32_t e = first + 4 * t + group;
      const bool there = e < end;
      const std::int32_t place = there ? places[e] : 0;
      const index_t row = first_row + place / kCapacity, h = g * sharing + place / kCapacity / n;
      const index_t i = place / kCapacity % n;
      p[t] = there ? support.entries(row)[place % kCapacity].weight : 0;
      slope[t] =
          there ? lists.score_gradients[row * kCapacity + place % kCapacity] * static_cast<float>(x.scale[h])
                : 0;
      query[t].load(x.query.row(b, h, i), key_cols, there);
      upstream[t].load(cotangent.row(b, h, i), value_cols, there);
    }
#pragma unroll
    for (int t = 0; t < kTogether; ++t) {
      to_key.add(slope[t], query[t]);
      to_value.add(p[t], upstream[t]);
    }
  }
  to_key.over_groups();
  to_value.over_groups();
  if (lists.dense[head * lists.key_blocks() + k / kBlockRows] != 0) {
    const int piece = threadIdx.x % 8;
#pragma unroll
    for (int c = 0; c < kD / 64; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e) to_key.values[c][e] += lists.dense_keys[at * kD + 64 * c + 8 * piece + e];
    }
#pragma unroll
    for (int c = 0; c < kE / 64; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e)
        to_value.values[c][e] += lists.dense_values[at * kE + 64 * c + 8 * piece + e];
    }
  }
  if (gradient.key.data != nullptr) to_key.store(gradient.key.row(b, g, k), key_cols, 1);
  if (gradient.value.data != nullptr) to_value.store(gradient.value.row(b, g, k), value_cols, 1);
}

}  // namespace fenchel::cuda::device
