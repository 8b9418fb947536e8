#include "backend/cuda/dot_product/transposed.cuh"

#include "backend/cuda/launch.cuh"

namespace fenchel::cuda::device {
namespace {

/// One warp goes through the queries of a chunk in their order; the keys of a query differ, so that no two
/// lanes meet. Counts the entries of each key, or writes their places from `counts` on.
template <bool kPlace>
__global__ void count_or_place(const SupportRows support, const Transposed lists) {
  extern __shared__ std::int32_t counters[];
  const index_t head = blockIdx.x / lists.chunks, chunk = blockIdx.x % lists.chunks,
                first_key = blockIdx.y * kSortedKeys;
  const int lane = threadIdx.x,
            keys = static_cast<int>(min(static_cast<index_t>(kSortedKeys), lists.keys - first_key));
  std::int32_t* const counts = lists.counts + (head * lists.chunks + chunk) * lists.keys + first_key;
  for (int k = lane; k < keys; k += kWarp) counters[k] = kPlace ? counts[k] : 0;
  __syncwarp();
  const index_t first = chunk * lists.chunk_rows(), end = min(lists.rows, first + lists.chunk_rows());
  for (index_t i = first; i < end; ++i) {
    const index_t row = head * lists.rows + i;
    const std::int32_t count = support.count(row);
    for (std::int32_t e = lane; e < count; e += kWarp) {
      const index_t key = support.entries(row)[e].key - first_key;
      if (key < 0 || key >= keys) continue;
      const std::int32_t place = counters[key]++;
      if (kPlace) {
        lists.places[head * lists.rows * SupportRows::kCapacity + place] =
            static_cast<std::int32_t>(i * SupportRows::kCapacity + e);
      }
    }
    __syncwarp();
  }
  if constexpr (!kPlace) {
    for (int k = lane; k < keys; k += kWarp) counts[k] = counters[k];
  }
}

/// Counts become places: a block for each head of keys.
__global__ void add_up_counts(const Transposed lists) {
  __shared__ std::int32_t sums[kWarp], before;
  const index_t head = blockIdx.x;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  if (threadIdx.x == 0) before = 0;
  __syncthreads();
  for (index_t first = 0; first < lists.keys; first += blockDim.x) {
    const index_t key = first + threadIdx.x;
    const bool there = key < lists.keys;
    std::int32_t* const counts = lists.counts + head * lists.chunks * lists.keys + key;
    std::int32_t total = 0;
    for (index_t c = 0; c < lists.chunks && there; ++c) total += counts[c * lists.keys];
    std::int32_t up_to = total;
    for (int distance = 1; distance < kWarp; distance *= 2) {
      const std::int32_t lower = __shfl_up_sync(kAllLanes, up_to, distance);
      if (lane >= distance) up_to += lower;
    }
    if (lane == kWarp - 1) sums[warp] = up_to;
    __syncthreads();
    std::int32_t place = before + up_to - total;
    for (int w = 0; w < warp; ++w) place += sums[w];
    __syncthreads();
    if (threadIdx.x == blockDim.x - 1) before = place + total;
    if (there) lists.begin[head * (lists.keys + 1) + key] = place;
    if (key == lists.keys - 1) lists.begin[head * (lists.keys + 1) + lists.keys] = place + total;
    for (index_t c = 0; c < lists.chunks && there; ++c) {
      const std::int32_t count = counts[c * lists.keys];
      counts[c * lists.keys] = place;
      place += count;
    }
    __syncthreads();
  }
}

}  // namespace

void sort_by_keys(std::string_view where, const SupportRows& support, const Transposed& lists,
                  Stream stream) {
  constexpr std::size_t kCounters = kSortedKeys * sizeof(std::int32_t);
  constexpr unsigned kScanned = 1024;
  const dim3 chunks =
      grid_of(where, lists.heads * lists.chunks, (lists.keys + kSortedKeys - 1) / kSortedKeys);
  launch(where, count_or_place<false>, chunks, dim3(kWarp), kCounters, stream, support, lists);
  launch(where, add_up_counts, grid_of(where, lists.heads), dim3(kScanned), 0, stream, lists);
  launch(where, count_or_place<true>, chunks, dim3(kWarp), kCounters, stream, support, lists);
}

}  // namespace fenchel::cuda::device
