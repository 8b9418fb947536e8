#pragma once

#include "backend/cuda/device/dot_product/cache.cuh"
#include "backend/cuda/device/dot_product/mma.cuh"

/// Scores of keys in a cache. A product has sixteen keys as rows and eight queries as columns, so that keys
/// go from memory into registers once for all queries that share them. A lane reads 16 bytes of a row at a
/// time: the order of the columns in a product is then another one, for keys and queries alike.
namespace fenchel::cuda::device {

inline constexpr int kScoreWarps = 4, kScoreThreads = kScoreWarps * kWarp;
inline constexpr int kWarpGroups = 4;                                      ///< groups of keys of a warp
inline constexpr int kScoreKeys = kScoreWarps * kWarpGroups * kGroupKeys;  ///< keys of a block

/// Reads 16 bytes once and past the first cache, if they are wanted.
__device__ inline void read_once(uint4& words, const void* from, bool is_wanted) {
  asm volatile(
      "{.reg .pred p; setp.ne.s32 p, %5, 0; "
      "@p ld.global.nc.L1::no_allocate.L2::128B.v4.u32 {%0,%1,%2,%3}, [%4];}"
      : "+r"(words.x), "+r"(words.y), "+r"(words.z), "+r"(words.w)
      : "l"(from), "r"(static_cast<int>(is_wanted)));
}

/// The two keys of a group that a lane reads, g and g + 8 for lane 4 g + t; of each 32 columns it has the
/// eight from 8 t on. Columns behind the last stay 0.
template <class T, int kD>
struct KeyPair {
  static constexpr int kPieces = kD / 32;
  uint4 words[2][kPieces] = {};

  __device__ void load(const T* const (&rows)[2], int cols, bool is_wanted = true) {
    const int first = 8 * (threadIdx.x % 4);
#pragma unroll
    for (int half = 0; half < 2; ++half) {
      const T* const row = rows[half] + first;
#pragma unroll
      for (int c = 0; c < kPieces; ++c)
        read_once(words[half][c], row + 32 * c, is_wanted && 32 * c + first < cols);
    }
  }
  /// sums = keys queries^T, for queries as `QueryTiles` keeps them.
  __device__ void multiply(TileSums& sums, const uint4* queries) const {
#pragma unroll
    for (int e = 0; e < 4; ++e) sums[e] = 0;
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const uint4 low = words[0][c], high = words[1][c], q = queries[c * kWarp + threadIdx.x % kWarp];
      multiply_add<T>(sums, LeftOperand{low.x, high.x, low.y, high.y}, q.x, q.y);
      multiply_add<T>(sums, LeftOperand{low.z, high.z, low.w, high.w}, q.z, q.w);
    }
  }
};

/// Some of the queries that share a head of keys, in shared memory: for each tile, 32 columns and lane what
/// it has as a right operand. Besides, what is asked of them one by one.
template <class T, int kD>
struct QueryTiles {
  static constexpr int kPieces = kD / 32;
  struct Query {
    float *scores, *largest;  ///< where they go
    const T* bias;            ///< may be null
    Sight sight;
    float scale;
  };
  uint4* words;  ///< kMostTiles x kPieces x 32
  Query* queries;
  int count;

  static constexpr int kBytes = kMostTiles * (kPieces * kWarp * 16 + kTileQueries * sizeof(Query));

  /// Of head g of the keys of member b, from the first one on.
  __device__ QueryTiles(unsigned char* shared, const CachedProblem<T>& p, index_t b, index_t g, int first,
                        int length)
      : words(reinterpret_cast<uint4*>(shared)),
        queries(reinterpret_cast<Query*>(words + kMostTiles * kPieces * kWarp)),
        count(min(p.sharing - first, kMostTiles * kTileQueries)) {
    const CachedDotProducts<T>& x = p.x;
    const auto rows = static_cast<unsigned>(x.query.rows);
    const auto head_of = [&](int s) { return g * p.group_heads + static_cast<unsigned>(first + s) / rows; };
    const auto query_of = [&](int s) { return static_cast<unsigned>(first + s) % rows; };
    for (int s = threadIdx.x; s < tiles() * kTileQueries; s += kScoreThreads) {
      const index_t h = head_of(s), i = query_of(s), row = (b * x.query.heads + h) * rows + i;
      if (s >= count) {
        queries[s] = {};
        continue;
      }
      queries[s] = {p.scores + row * p.columns(), p.largest + row * p.groups(),
                    x.bias.data == nullptr ? nullptr : x.bias.row(b, h, i), Sight::of(x, length, i),
                    static_cast<float>(x.scale[h])};
    }
    for (int k = threadIdx.x; k < tiles() * kPieces * kWarp; k += kScoreThreads) {
      const int lane = k % kWarp, piece = k / kWarp % kPieces, tile = k / kWarp / kPieces;
      const int s = tile * kTileQueries + lane / 4, column = 32 * piece + 8 * (lane % 4);
      const bool there = s < count && column < x.query.cols;
      words[k] = there ? *reinterpret_cast<const uint4*>(x.query.row(b, head_of(s), query_of(s)) + column)
                       : uint4{0, 0, 0, 0};
    }
    __syncthreads();
  }
  [[nodiscard]] __device__ int tiles() const { return (count + kTileQueries - 1) / kTileQueries; }
  [[nodiscard]] __device__ const uint4* tile(int k) const { return words + k * kPieces * kWarp; }
};

/// The keys of a warp. A lane finds where some of them lie, for all lanes.
template <class T>
struct WarpKeys {
  static constexpr int kEach = kWarpGroups * kGroupKeys / kWarp;
  const T* rows[kEach];       ///< past the last token that of the last one
  unsigned is_needed[kEach];  ///< a bit for each key: whether any query needs its score

  __device__ WarpKeys(const CachedProblem<T>& p, unsigned b, unsigned g, int first_key, int length,
                      PageState wanted) {
    const CachedDotProducts<T>& x = p.x;
    // What any of the queries sees lies between what the first and the last one see.
    const Sight begin = Sight::of(x, length, 0), end = Sight::of(x, length, x.query.rows - 1);
    const Sight any{static_cast<int>(min(x.sinks, static_cast<index_t>(length))), begin.first, end.last};
    const auto page_rows = static_cast<unsigned>(x.key.rows);
#pragma unroll
    for (int e = 0; e < kEach; ++e) {
      const int key = first_key + e * kWarp + static_cast<int>(threadIdx.x % kWarp);
      const auto token = static_cast<unsigned>(min(key, length - 1));
      rows[e] = x.key.data + g * x.key.head_stride + p.offset(x.key, b, token);
      const bool is_wanted =
          !p.skips_pages() ||
          p.page_states[(b * x.key.heads + g) * x.pages.cols + token / page_rows] == wanted;
      is_needed[e] = __ballot_sync(kAllLanes, key < length && is_wanted && any.sees(key));
    }
  }
  /// Whether the score of a key of the warp's group j is.
  [[nodiscard]] __device__ bool needs(int j) const {
    return (is_needed[j / 2] >> kGroupKeys * (j % 2) & 0xffffu) != 0;
  }
  /// The lane's key of that half of the group.
  [[nodiscard]] __device__ const T* row(int j, int half) const {
    const int lane = static_cast<int>(threadIdx.x % kWarp) / 4 + 8 * half + kGroupKeys * (j % 2);
    const auto address = reinterpret_cast<unsigned long long>(rows[j / 2]);
    return reinterpret_cast<const T*>(__shfl_sync(kAllLanes, address, lane));
  }
};

/// The scores of the groups of keys that any query sees, and the largest of each group; where pages are
/// skipped, those of the wanted pages. Blocks of one head of keys follow each other.
template <class T, int kD>
__global__ void __launch_bounds__(kScoreThreads)
    scores_of_cache(const __grid_constant__ CachedProblem<T> p, const PageState wanted) {
  extern __shared__ __align__(16) unsigned char shared[];
  constexpr float kNone = -__builtin_huge_valf();
  const CachedDotProducts<T>& x = p.x;
  constexpr int kQueries = kMostTiles * kTileQueries;
  const auto key_blocks = static_cast<unsigned>((p.longest + kScoreKeys - 1) / kScoreKeys);
  const auto query_blocks = static_cast<unsigned>((p.sharing + kQueries - 1) / kQueries);
  const unsigned head = blockIdx.x / key_blocks / query_blocks, key_heads = x.key.heads;
  const unsigned b = head / key_heads, g = head % key_heads;
  const int length = p.length(b), first_of_block = static_cast<int>(blockIdx.x % key_blocks) * kScoreKeys;
  if (first_of_block >= length) return;
  const int lane = threadIdx.x % kWarp;
  const int first_key = first_of_block + static_cast<int>(threadIdx.x / kWarp) * kWarpGroups * kGroupKeys;
  const WarpKeys<T> of_warp(p, b, g, first_key, length, wanted);
  KeyPair<T, kD> keys;
  const auto load = [&](int j) {
    if (j == kWarpGroups) return;
    keys.load({of_warp.row(j, 0), of_warp.row(j, 1)}, static_cast<int>(x.key.cols), of_warp.needs(j));
  };
  load(0);
  const QueryTiles<T, kD> tiles(shared, p, b, g, blockIdx.x / key_blocks % query_blocks * kQueries, length);
#pragma unroll
  for (int j = 0; j < kWarpGroups; ++j) {
    const int group_key = first_key + j * kGroupKeys, group = group_key / kGroupKeys;
    if (group_key >= length) break;
    if (!of_warp.needs(j)) {
      for (int s = lane; s < tiles.count && wanted == PageState::kFirst; s += kWarp)
        tiles.queries[s].largest[group] = kNone;
      load(j + 1);
      continue;
    }
    for (int k = 0; k < tiles.tiles(); ++k) {
      TileSums z;
      keys.multiply(z, tiles.tile(k));
      if (k + 1 == tiles.tiles()) load(j + 1);  // and wait for it behind what is left of this group
#pragma unroll
      for (int column = 0; column < 2; ++column) {
        if (k * kTileQueries + column >= tiles.count) break;  // no lane has a query
        const int s = k * kTileQueries + 2 * (lane % 4) + column;
        const auto& query = tiles.queries[s];
        float largest = kNone;
#pragma unroll
        for (int half = 0; half < 2; ++half) {
          const int key = group_key + lane / 4 + 8 * half;
          float score = query.scale * z[2 * half + column];
          if (x.bias.data != nullptr && s < tiles.count && key < length) {
            const float bias = widened(query.bias[key * x.bias.step]);
            score = bias == kNone ? bias : score + bias;
          }
          if (!query.sight.sees(key)) score = kNone;
          largest = larger_or_nan(largest, score);
          if (s < tiles.count) query.scores[key] = score;
        }
#pragma unroll
        for (int distance = 4; distance < kWarp; distance *= 2) {
          largest = larger_or_nan(largest, __shfl_xor_sync(kAllLanes, largest, distance));
        }
        if (lane < 4 && s < tiles.count) query.largest[group] = largest;
      }
    }
  }
}

}  // namespace fenchel::cuda::device
