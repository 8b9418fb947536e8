#pragma once

#include <cstdint>

#include "backend/cuda/device/reduce.cuh"
#include "backend/cuda/device/storage.cuh"
#include "fenchel/backend/dot_product_views.hpp"

/// What the kernels of attention to a cache share: a problem with its tables on the GPU, and the numbers that
/// one kernel leaves for the next.
namespace fenchel::cuda::device {

inline constexpr int kGroupKeys = 16;    ///< keys of which the largest score is kept: the rows of a product
inline constexpr int kChunkKeys = 1024;  ///< keys whose values a block adds up
inline constexpr int kTileQueries = 8;   ///< queries of a product
inline constexpr int kMostTiles = 8;     ///< that a block multiplies its keys by
/// So much of it is allowed to a threshold for its rounding: past alpha = 2 a weight feels that by its root.
inline constexpr float kThresholdSlack = 1e-5f;

/// Waits until what the kernel before this one in the stream has written is there, for `launch_behind`.
__device__ inline void wait_for_kernel_before() {
#if __CUDA_ARCH__ >= 900
  cudaGridDependencySynchronize();
#endif
}

/// What a row of scores is: one with weights, one that sees no key, or one with a NaN or without an alpha.
enum class RowKind : std::int32_t { kWeights, kNothing, kNaN };
/// Of a row of scores: the largest, and its weights. For alpha <= 2 they are the `RowWeights` of a level.
/// Past it a weight near the threshold changes by a tenth from one level to the next one that a float can be,
/// and so the weights of two levels are mixed: their masses are on either side of one.
struct SolvedRow {
  float top;
  float level, below;  ///< the same for alpha <= 2
  float share;         ///< of the first
  RowKind kind;

  template <class Weights>
  [[nodiscard]] __device__ float weight(Weights weights, float d) const {
    weights.level = level;
    float p = weights(d).p;
    if constexpr (Weights::kAny) {
      weights.level = below;
      if (share < 1) p = share * p + (1 - share) * weights(d).p;
    }
    return p;
  }
};

/// Which scores of a page are needed: none, some that give a bound of the thresholds, or those that this
/// bound leaves.
enum class PageState : std::uint8_t { kSkipped, kFirst, kSecond };

/// Whose a row of scores is: of query i in head h of member b.
struct RowPlace {
  unsigned b, h, i;
};

/// Row (b H + h) n + i is that of a query. Queries that share a head of keys have neighbouring rows.
template <class T>
struct CachedProblem {
  CachedDotProducts<T> x;                 ///< with pages and lengths on the host, which kernels do not read
  const std::int32_t* pages = nullptr;    ///< of each sequence, in as many columns as `x.pages` has
  const std::int64_t* lengths = nullptr;  ///< of each sequence
  index_t longest = 0;                    ///< of them
  int group_heads = 0, sharing = 0;       ///< heads of queries, and rows, that share a head of keys
  float* scores = nullptr;                ///< of each row, `columns` of them
  float* largest = nullptr;  ///< of each row and group of keys; -inf where its scores were not written
  SolvedRow* rows = nullptr;
  float* page_bounds = nullptr;      ///< of each row and page of its sequence, with `x.bounds`
  PageState* page_states = nullptr;  ///< of each head of keys and page of its sequence, with `x.bounds`
  float* sums = nullptr;             ///< of each row and chunk of keys, as many as the kernel has columns
  float* masses = nullptr;           ///< of each row and chunk, the sum of weights; 0 where there is no sum

  [[nodiscard]] __host__ __device__ index_t groups() const { return (longest + kGroupKeys - 1) / kGroupKeys; }
  [[nodiscard]] __host__ __device__ index_t chunks() const { return (longest + kChunkKeys - 1) / kChunkKeys; }
  [[nodiscard]] __host__ __device__ index_t columns() const { return groups() * kGroupKeys; }
  [[nodiscard]] __host__ __device__ index_t row_count() const {
    return x.query.batch * x.query.heads * x.query.rows;
  }
  [[nodiscard]] __host__ __device__ bool skips_pages() const { return page_states != nullptr; }
  /// In 32 bits, in which a division is short.
  [[nodiscard]] __device__ RowPlace place(unsigned row) const {
    const auto rows = static_cast<unsigned>(x.query.rows), heads = static_cast<unsigned>(x.query.heads);
    const unsigned head = row / rows, b = head / heads;
    return {b, head - b * heads, row - head * rows};
  }
  [[nodiscard]] __device__ int length(index_t b) const { return static_cast<int>(lengths[b]); }
  /// Where the row of a token is in a matrix of each page.
  [[nodiscard]] __device__ index_t offset(const Matrices<const T>& of, index_t b, unsigned token) const {
    const auto page_rows = static_cast<unsigned>(of.rows);
    const unsigned page = token / page_rows;
    return pages[b * x.pages.cols + page] * of.batch_stride + (token - page * page_rows) * of.row_stride;
  }
};

/// The tokens that a query sees: some first ones, and an interval.
struct Sight {
  int sinks, first, last;

  /// Of query i of n, in a sequence of so many tokens.
  template <class T>
  __device__ static Sight of(const CachedDotProducts<T>& x, int length, index_t i) {
    const index_t place = length - x.query.rows + i;
    if (place < 0) return {0, 0, 0};
    const index_t first = place > x.window ? place - x.window : 0;
    return {static_cast<int>(min(x.sinks, first)), static_cast<int>(first), static_cast<int>(place + 1)};
  }
  [[nodiscard]] __device__ bool sees(int token) const {
    return token < last && (token >= first || token < sinks);
  }
  [[nodiscard]] __device__ bool sees_any(int begin, int end) const {
    return begin < last && (end > first || begin < sinks);
  }
};

}  // namespace fenchel::cuda::device
