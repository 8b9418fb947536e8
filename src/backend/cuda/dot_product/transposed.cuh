#pragma once

#include <cuda_runtime.h>

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/cuda/device/dot_product/problem.cuh"

/// The lists of the record by keys: a counting sort without atomic additions, so that the order of all sums
/// is that of the queries, in every run.
namespace fenchel::cuda::device {

inline constexpr int kSortedKeys = 8192;  ///< keys that a warp counts at a time
/// The queries of a head of keys are counted in chunks, by one warp each: at most so many, and not of less.
inline constexpr index_t kMostChunks = 64, kLeastChunkRows = 64;

/// For each head of keys: where the list of each key begins, and which entries of the record it has; besides
/// what the gradients leave for each other.
struct Transposed {
  index_t heads, keys, rows;  ///< heads of keys, keys of each, queries that look at each
  index_t chunks;
  std::int32_t *counts = nullptr, *begin = nullptr, *places = nullptr;
  float *score_gradients = nullptr, *means = nullptr;
  /// Which blocks of keys are seen by dense rows, and what these give to the gradients.
  std::int32_t* dense = nullptr;
  float *dense_keys = nullptr, *dense_values = nullptr;

  [[nodiscard]] __host__ __device__ index_t key_blocks() const {
    return (keys + kBlockRows - 1) / kBlockRows;
  }
  [[nodiscard]] __host__ __device__ index_t chunk_rows() const { return (rows + chunks - 1) / chunks; }

  /// In memory of so many bytes, or without memory, to ask how many.
  static Transposed in(std::byte* memory, std::size_t& bytes, index_t heads, index_t keys, index_t rows,
                       int key_cols, int value_cols) {
    Transposed t{heads, keys, rows, (rows + kLeastChunkRows - 1) / kLeastChunkRows};
    if (t.chunks > kMostChunks) t.chunks = kMostChunks;
    std::size_t used = 0;
    const auto take = [&]<class Number>(Number*& pointer, index_t count) {
      pointer = memory == nullptr ? nullptr : reinterpret_cast<Number*>(memory + used);
      used += (static_cast<std::size_t>(count) * sizeof(Number) + 255) / 256 * 256;
    };
    take(t.counts, heads * t.chunks * keys);
    take(t.begin, heads * (keys + 1));
    take(t.places, heads * rows * SupportRows::kCapacity);
    take(t.score_gradients, heads * rows * SupportRows::kCapacity);
    take(t.means, heads * rows);
    take(t.dense_keys, heads * keys * key_cols);
    take(t.dense_values, heads * keys * value_cols);
    take(t.dense, heads * t.key_blocks());
    bytes = used;
    return t;
  }
};

/// Fills `begin` and `places` from the lists of the record.
void sort_by_keys(std::string_view where, const SupportRows& support, const Transposed& lists, Stream stream);

}  // namespace fenchel::cuda::device
