#pragma once

#include <cstdint>
#include <type_traits>

#include "backend/cuda/device/dot_product/mma.cuh"
#include "backend/cuda/device/dot_product/weights.cuh"
#include "fenchel/backend/cuda/dot_product_attention.hpp"
#include "fenchel/backend/dot_product_views.hpp"

/// What the kernels of attention share: blocks of queries, scores of a part of a tile, rows of the record.
namespace fenchel::cuda::device {

inline constexpr int kWarpRows = 16;                   ///< queries of a warp, as many as a left operand has
inline constexpr int kBlockRows = kWarps * kWarpRows;  ///< and of a block
inline constexpr int kPart = 32;                       ///< keys whose scores a warp holds at a time
inline constexpr std::int32_t kNoList = -1;  ///< in place of a number of keys: the block's rows are dense

/// A block's head and queries.
struct Place {
  index_t b, h, g;    ///< member, head of queries and head of keys
  index_t first;      ///< query
  index_t first_row;  ///< of the record
};

/// Blocks of one head follow each other, and those with the most keys come first.
template <class T>
__device__ inline Place place_of_block(const DotProducts<T>& x) {
  const index_t n = x.query.rows, blocks = (n + kBlockRows - 1) / kBlockRows;
  const index_t head = blockIdx.x / blocks, block = blocks - 1 - blockIdx.x % blocks;
  const index_t b = head / x.query.heads, h = head % x.query.heads;
  return {b, h, h / (x.query.heads / x.key.heads), block * kBlockRows, head * n + block * kBlockRows};
}

/// How many keys the queries before `end` may see.
template <class T>
__device__ inline index_t keys_before(const DotProducts<T>& x, index_t end) {
  return x.causal ? min(x.key.rows, end) : x.key.rows;
}

/// The scores of a lane, as their products lie.
struct LaneScores {
  TileSums z[4];
};
__device__ inline LaneScores lane_scores(const TileSums (&z)[4]) {
  LaneScores scores;
  memcpy(&scores, &z, sizeof scores);
  return scores;
}

/// The scores of 16 queries and kPart keys out of their products: lane 4 g + t has queries g and g + 8.
template <class T>
struct Scores {
  const DotProducts<T>& x;
  index_t b, h;
  float scale;
  int first_query;  ///< of the warp
  int limit[2];     ///< how many keys the queries of the lane may see
  bool has_tensors;

  __device__ Scores(const DotProducts<T>& given, index_t member, index_t head, index_t first)
      : x(given),
        b(member),
        h(head),
        scale(static_cast<float>(given.scale[head])),
        first_query(static_cast<int>(first)),
        has_tensors(given.mask.data != nullptr || given.bias.data != nullptr) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const index_t i = query_of(slot);
      limit[slot] = i < x.query.rows ? static_cast<int>(keys_before(x, i + 1)) : 0;
    }
  }
  [[nodiscard]] __device__ index_t query_of(int slot) const {
    return first_query + static_cast<int>(threadIdx.x % kWarp) / 4 + 8 * slot;
  }
  __device__ void finish(TileSums (&z)[4], int first_key) const {
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) z[j][e] *= scale;
    }
    if (has_tensors) {
      const LaneScores scores = with_tensors(lane_scores(z), first_key);
      memcpy(&z, &scores, sizeof scores);
    }
    if (first_key + kPart <= min(limit[0], limit[1])) return;
    const int key = first_key + 2 * static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int j = 0; j < 4; ++j) {
#pragma unroll
      for (int e = 0; e < 4; ++e) {
        if (key + 8 * j + e % 2 >= limit[e / 2]) z[j][e] = -__builtin_huge_valf();
      }
    }
  }
  /// With the bias of a query and a key, -inf where the mask says so.
  [[nodiscard]] __device__ float with_tensors(float z, index_t i, index_t k) const {
    if (i >= x.query.rows || k >= x.key.rows) return z;
    if (x.mask.data != nullptr && !x.mask.row(b, h, i)[k * x.mask.step]) return -__builtin_huge_valf();
    return x.bias.data == nullptr ? z : z + widened(x.bias.row(b, h, i)[k * x.bias.step]);
  }

 private:
  /// Not inlined: few calls have tensors, and all would have the code.
  [[nodiscard]] __device__ __noinline__ LaneScores with_tensors(LaneScores scores, int first_key) const {
    const int key = first_key + 2 * static_cast<int>(threadIdx.x % 4);
    for (int j = 0; j < 4; ++j) {
      for (int e = 0; e < 4; ++e) {
        scores.z[j][e] = with_tensors(scores.z[j][e], query_of(e / 2), key + 8 * j + e % 2);
      }
    }
    return scores;
  }
};

/// Over the four lanes that share a query.
__device__ inline float quad_sum(float x) {
  x += __shfl_xor_sync(kAllLanes, x, 1);
  return x + __shfl_xor_sync(kAllLanes, x, 2);
}
__device__ inline float quad_largest(float x) {
  x = larger_or_nan(x, __shfl_xor_sync(kAllLanes, x, 1));
  return larger_or_nan(x, __shfl_xor_sync(kAllLanes, x, 2));
}

/// body(std::integral_constant<int, kPower>()): 1/am1, where that is a small whole number, or kAnyPower.
template <class Body>
__device__ inline void with_power(float am1, const Body& body) {
  if (am1 == 1.0f) return body(std::integral_constant<int, 1>());
  if (am1 == 0.5f) return body(std::integral_constant<int, 2>());
  if (am1 == 0.25f) return body(std::integral_constant<int, 4>());
  if (fabsf(3 * am1 - 1) < 2e-7f) return body(std::integral_constant<int, 3>());
  return body(std::integral_constant<int, kAnyPower>());
}

/// A key and its weight in the record of a query.
struct alignas(8) Entry {
  std::int32_t key;
  float weight;
};

/// The record: how many keys have weight (or kNoList), a number that is not used, then as many entries.
struct SupportRows {
  static constexpr int kCapacity = kAttentionSupport;
  static constexpr index_t kStride = kAttentionSupportColumns;
  std::int32_t* data;

  [[nodiscard]] __device__ std::int32_t& count(index_t row) const { return data[row * kStride]; }
  [[nodiscard]] __device__ Entry* entries(index_t row) const {
    return reinterpret_cast<Entry*>(data + row * kStride + 2);
  }
};

}  // namespace fenchel::cuda::device
