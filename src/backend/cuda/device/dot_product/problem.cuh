#pragma once

#include <bit>
#include <cstdint>
#include <type_traits>

#include "backend/cuda/device/dot_product/mma.cuh"
#include "backend/cuda/device/dot_product/weights.cuh"
#include "fenchel/backend/cuda/dot_product_attention.hpp"
#include "fenchel/backend/dot_product_views.hpp"

/// What the kernels of attention share: blocks of queries, scores of a tile, rows of the record.
namespace fenchel::cuda::device {

inline constexpr int kWarpRows = 16;                   ///< queries of a warp, as many as a left operand has
inline constexpr int kBlockRows = kWarps * kWarpRows;  ///< and of a block
/// In place of a number of keys: the block's rows are dense, or longer lists may be enough.
inline constexpr std::int32_t kNoList = -1, kLongerList = -2;

/// A block's head and queries.
struct Place {
  index_t b, h, g;    ///< member, head of queries and head of keys
  index_t first;      ///< query
  index_t first_row;  ///< of the record
};

/// Blocks of one head follow each other, and those with the most keys come first.
template <class T>
__device__ inline Place place_of_block(const DotProducts<T>& x) {
  const index_t n = x.query.rows;
  const auto blocks = static_cast<unsigned>((n + kBlockRows - 1) / kBlockRows);
  const unsigned head = blockIdx.x / blocks, block = blocks - 1 - blockIdx.x % blocks;
  const auto heads = static_cast<unsigned>(x.query.heads);
  const unsigned b = head / heads, h = head % heads, sharing = heads / static_cast<unsigned>(x.key.heads);
  return {b, h, h / sharing, static_cast<index_t>(block) * kBlockRows,
          head * n + static_cast<index_t>(block) * kBlockRows};
}

/// The keys that query i of member b may see, of those that there are.
template <class T>
__device__ inline KeyRange keys_of(const DotProducts<T>& x, index_t b, index_t i) {
  const auto all = static_cast<std::int32_t>(x.key.rows);
  if (x.ranges == nullptr) return {0, 0, x.causal ? min(all, static_cast<std::int32_t>(i) + 1) : all};
  const KeyRange given = x.ranges[b * x.query.rows + i];
  return {max(given.origin, 0), max(given.first, 0), min(given.last, all)};
}

/// Whether one that sees these keys, and so many sinks, sees a key.
__device__ inline bool sees(const KeyRange& keys, index_t sinks, int key) {
  return key < keys.last && (key >= keys.first || (key >= keys.origin && key - keys.origin < sinks));
}

/// The scores of a lane, as their products lie.
template <int kCount>
struct LaneScores {
  TileSums z[kCount];
};
template <int kCount>
__device__ inline LaneScores<kCount> lane_scores(const TileSums (&z)[kCount]) {
  LaneScores<kCount> scores;
  memcpy(&scores, &z, sizeof scores);
  return scores;
}

/// The scores of 16 queries and eight times kCount keys out of their products: lane 4 g + t has queries g and
/// g + 8. They are in units of `unit`, which is the scale where that is positive and nothing is added to it.
template <class T>
struct Scores {
  const DotProducts<T>& x;
  index_t b, h;
  float scale, unit;
  int first_query;  ///< of the warp
  int limit[2];     ///< the queries of the lane see no key from this one on
  int from;         ///< all queries of the warp see all others from this one on, but what tensors hide
  bool are_products;

  __device__ Scores(const DotProducts<T>& given, index_t member, index_t head, index_t first)
      : x(given),
        b(member),
        h(head),
        scale(static_cast<float>(given.scale[head])),
        first_query(static_cast<int>(first)),
        are_products(given.mask.data == nullptr && given.bias.data == nullptr && scale > 0) {
    unit = are_products ? scale : 1.0f;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const index_t i = query_of(slot);
      limit[slot] = i < x.query.rows ? keys_of(x, b, i).last : 0;
    }
    const auto all = static_cast<int>(x.key.rows);
    from = are_products ? keys_of(x, b, min(x.query.rows, first + kWarpRows) - 1).first : all;
  }
  [[nodiscard]] __device__ index_t query_of(int slot) const {
    return first_query + static_cast<int>(threadIdx.x % kWarp) / 4 + 8 * slot;
  }
  template <int kCount>
  __device__ void finish(TileSums (&z)[kCount], int first_key) const {
    if (first_key < from) {
      const LaneScores<kCount> scores = seen(lane_scores(z), first_key);
      memcpy(&z, &scores, sizeof scores);
    }
    if (first_key + 8 * kCount <= min(limit[0], limit[1])) return;
    const int key = first_key + 2 * static_cast<int>(threadIdx.x % 4);
#pragma unroll
    for (int j = 0; j < kCount; ++j) {
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
  /// Not inlined: few calls have tensors or windows, and all would have the code.
  template <int kCount>
  [[nodiscard]] __device__ __noinline__ LaneScores<kCount> seen(LaneScores<kCount> scores,
                                                                int first_key) const {
    for (int slot = 0; slot < 2; ++slot) {
      const index_t i = query_of(slot);
      const KeyRange keys = i < x.query.rows ? keys_of(x, b, i) : KeyRange{0, 0, 0};
      for (int j = 0; j < kCount; ++j) {
        for (int e = 2 * slot; e < 2 * slot + 2; ++e) {
          const int key = first_key + 8 * j + 2 * static_cast<int>(threadIdx.x % 4) + e % 2;
          const float z = are_products ? scores.z[j][e] : with_tensors(scale * scores.z[j][e], i, key);
          scores.z[j][e] = sees(keys, x.sinks, key) ? z : -__builtin_huge_valf();
        }
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

/// A key and its weight in the record of a query. Lists have up to kLongestList of them.
inline constexpr int kLongestList = 128;
struct alignas(8) Entry {
  std::int32_t key;
  float weight;
};

/// The record of the queries: for each the number of its entries (or kNoList) and where they begin, then room
/// for kCapacity of them. 16 queries share their room: the entries of one follow those of the one before.
struct SupportRows {
  static constexpr int kCapacity = kAttentionSupport;
  static constexpr index_t kStride = kAttentionSupportColumns;
  struct List {
    std::int32_t count, first;  ///< entries; the first may lie before the query's own room, or behind it
  };
  std::int32_t* data;

  [[nodiscard]] __device__ List& list(index_t row) const {
    return *reinterpret_cast<List*>(data + row * kStride);
  }
  [[nodiscard]] __device__ bool is_dense(index_t row) const { return list(row).count == kNoList; }
  /// The least count of every kStep-th of so many queries from a row on, of those that this thread of a block
  /// looks at; 0 if there is none.
  template <int kStep>
  [[nodiscard]] __device__ std::int32_t least_count(index_t first_row, index_t rows) const {
    std::int32_t least = 0;
    for (index_t r = threadIdx.x * kStep; r < rows; r += kThreads * kStep)
      least = min(least, list(first_row + r).count);
    return least;
  }
  /// The entry e, counted from the beginning of the query's own room.
  [[nodiscard]] __device__ Entry& entry(index_t row, int e) const {
    static_assert((kCapacity & (kCapacity - 1)) == 0);
    constexpr int kShift = std::countr_zero(static_cast<unsigned>(kCapacity));
    return reinterpret_cast<Entry*>(data + (row + (e >> kShift)) * kStride + 2)[e & (kCapacity - 1)];
  }
};

}  // namespace fenchel::cuda::device
