#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/cuda/device/dot_product/problem.cuh"

/// The lists of the record by keys: a counting sort without atomic additions, so that the order of all sums
/// is that of the queries, in every run.
namespace fenchel::cuda::device {

inline constexpr int kSortedKeys = 32768;  ///< keys that a warp counts at a time
/// The queries of a head of keys are counted in chunks, by one warp each: enough of them to keep a GPU busy,
/// but not of less rows, of much less than there are keys to count, nor of more than a rank has numbers.
inline constexpr index_t kBusyWarps = 2048, kLeastChunkRows = 64, kKeysOfChunkRow = 32,
                         kMostChunkRows = 65535;

/// A query in the list of a key: which one of those that look at the head, its weight of the key, and the
/// gradient of its product with the key.
struct KeyEntry {
  std::int32_t row;
  float weight, slope;
};

/// For each head of keys: where the list of each key begins, and the lists; besides what the gradients leave
/// for each other.
struct Transposed {
  index_t heads, keys, rows;  ///< heads of keys, keys of each, queries that look at each
  index_t chunks, chunk_rows;
  /// How many entries of a key the chunks before have, and, for each entry of the record, its chunk before
  /// it.
  std::int32_t* counts = nullptr;
  std::uint16_t* ranks = nullptr;
  std::int32_t* begin = nullptr;
  KeyEntry* entries = nullptr;
  float* means = nullptr;
  /// Which blocks of keys are seen by dense rows, and what these give to the gradients.
  std::int32_t* dense = nullptr;
  float *dense_keys = nullptr, *dense_values = nullptr;

  [[nodiscard]] __host__ __device__ index_t key_blocks() const {
    return (keys + kBlockRows - 1) / kBlockRows;
  }
  [[nodiscard]] __device__ KeyEntry* of_head(index_t head) const {
    return entries + head * rows * SupportRows::kCapacity;
  }
  /// Puts an entry of the record, the e-th from the beginning of the row's own room, where it belongs.
  __device__ void keep(unsigned row, int e, Entry entry, float slope) const {
    const auto each = static_cast<unsigned>(rows);
    const unsigned head = row / each, i = row % each, chunk = i / static_cast<unsigned>(chunk_rows);
    const index_t before = counts[(head * chunks + chunk) * keys + entry.key];
    const index_t place = begin[head * (keys + 1) + entry.key] + before +
                          ranks[static_cast<index_t>(row) * SupportRows::kCapacity + e];
    of_head(head)[place] = {static_cast<std::int32_t>(i), entry.weight, slope};
  }

  /// In memory of so many bytes, or without memory, to ask how many.
  static Transposed in(std::byte* memory, std::size_t& bytes, index_t heads, index_t keys, index_t rows,
                       int key_cols, int value_cols) {
    const auto ceil_divided = [](index_t x, index_t by) { return (x + by - 1) / by; };
    const index_t shared_by = heads * ceil_divided(keys, kSortedKeys);
    const index_t busy_rows = ceil_divided(rows, ceil_divided(kBusyWarps, shared_by));
    const index_t chunk_rows =
        std::clamp(std::max(busy_rows, keys / kKeysOfChunkRow), kLeastChunkRows, kMostChunkRows);
    Transposed t{heads, keys, rows, ceil_divided(rows, chunk_rows), chunk_rows};
    std::size_t used = 0;
    const auto take = [&]<class Number>(Number*& pointer, index_t count) {
      pointer = memory == nullptr ? nullptr : reinterpret_cast<Number*>(memory + used);
      used += (static_cast<std::size_t>(count) * sizeof(Number) + 255) / 256 * 256;
    };
    take(t.counts, heads * t.chunks * keys);
    take(t.ranks, heads * rows * SupportRows::kCapacity);
    take(t.begin, heads * (keys + 1));
    take(t.entries, heads * rows * SupportRows::kCapacity);
    take(t.means, heads * rows);
    take(t.dense_keys, heads * keys * key_cols);
    take(t.dense_values, heads * keys * value_cols);
    take(t.dense, heads * t.key_blocks());
    bytes = used;
    return t;
  }
};

/// Finds the places of the entries of the record: `counts`, `ranks` and `begin`.
void sort_by_keys(std::string_view where, const SupportRows& support, const Transposed& lists, Stream stream);

}  // namespace fenchel::cuda::device
