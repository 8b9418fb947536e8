#include "backend/cuda/dot_product/transposed.cuh"

#include <algorithm>

#include "backend/cuda/launch.cuh"

namespace fenchel::cuda::device {
namespace {

/// One warp goes through the queries of a chunk in their order, and counts the entries of each key; the keys
/// of a query differ, so that no two lanes meet.
__global__ void rank_entries(const SupportRows support, const Transposed lists) {
  extern __shared__ std::uint16_t counters[];
  constexpr int kTogether = 4;  // rows whose keys are read before they are counted
  const index_t head = blockIdx.x / lists.chunks, chunk = blockIdx.x % lists.chunks,
                first_key = blockIdx.y * kSortedKeys;
  const int lane = threadIdx.x,
            keys = static_cast<int>(min(static_cast<index_t>(kSortedKeys), lists.keys - first_key));
  for (int k = lane; k < keys; k += kWarp) counters[k] = 0;
  __syncwarp();
  const auto count = [&](index_t row, int e, std::int32_t key) {
    const index_t at = key - first_key;
    if (at < 0 || at >= keys) return;
    lists.ranks[row * SupportRows::kCapacity + e] = counters[at]++;
  };
  const index_t begin = head * lists.rows + chunk * lists.chunk_rows;
  const index_t end = min((head + 1) * lists.rows, begin + lists.chunk_rows);
  for (index_t first = begin; first < end; first += kWarp) {
    const SupportRows::List own = first + lane < end ? support.list(first + lane) : SupportRows::List{0, 0};
    for (int r = 0; r < kWarp; r += kTogether) {
      SupportRows::List list[kTogether];
      std::int32_t key[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        list[t] = {__shfl_sync(kAllLanes, own.count, r + t), __shfl_sync(kAllLanes, own.first, r + t)};
        key[t] = lane < list[t].count ? support.entry(first + r + t, list[t].first + lane).key : -1;
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        if (key[t] >= 0) count(first + r + t, list[t].first + lane, key[t]);
        for (int e = list[t].first + lane + kWarp; e < list[t].first + list[t].count; e += kWarp) {
          count(first + r + t, e, support.entry(first + r + t, e).key);
        }
        __syncwarp();
      }
    }
  }
  std::int32_t* const counts = lists.counts + (head * lists.chunks + chunk) * lists.keys + first_key;
  for (int k = lane; k < keys; k += kWarp) counts[k] = counters[k];
}

/// Of each key, the entries of the chunks before each chunk, and of all in `begin`.
__global__ void add_up_chunks(const Transposed lists) {
  const index_t at = static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x;
  if (at >= lists.heads * lists.keys) return;
  const index_t head = at / lists.keys, key = at % lists.keys;
  std::int32_t* const counts = lists.counts + head * lists.chunks * lists.keys + key;
  std::int32_t total = 0;
  constexpr int kTogether = 8;
  for (index_t first = 0; first < lists.chunks; first += kTogether) {
    std::int32_t count[kTogether];
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      count[c] = first + c < lists.chunks ? counts[(first + c) * lists.keys] : 0;
    }
#pragma unroll
    for (int c = 0; c < kTogether; ++c) {
      if (first + c < lists.chunks) counts[(first + c) * lists.keys] = total;
      total += count[c];
    }
  }
  lists.begin[head * (lists.keys + 1) + key] = total;
}

/// Numbers of entries become the places where they begin: a block of 32 warps for each head of keys.
__global__ void add_up_keys(const Transposed lists) {
  constexpr int kEach = 8;  // keys of a thread
  __shared__ std::int32_t sums[kWarp];
  std::int32_t* const begin = lists.begin + blockIdx.x * (lists.keys + 1);
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  std::int32_t before = 0;  // in the parts before
  for (index_t first = 0; first < lists.keys; first += static_cast<index_t>(blockDim.x) * kEach) {
    std::int32_t count[kEach], total = 0;
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const index_t key = first + threadIdx.x * kEach + k;
      count[k] = key < lists.keys ? begin[key] : 0;
      total += count[k];
    }
    const auto up_to = [&](std::int32_t x) {
      for (int distance = 1; distance < kWarp; distance *= 2) {
        const std::int32_t lower = __shfl_up_sync(kAllLanes, x, distance);
        if (lane >= distance) x += lower;
      }
      return x;
    };
    const std::int32_t in_warp = up_to(total);
    if (lane == kWarp - 1) sums[warp] = in_warp;
    __syncthreads();
    const std::int32_t warps = up_to(sums[lane]);
    std::int32_t place = before + in_warp - total;
    if (warp > 0) place += __shfl_sync(kAllLanes, warps, warp - 1);
    before += __shfl_sync(kAllLanes, warps, kWarp - 1);
#pragma unroll
    for (int k = 0; k < kEach; ++k) {
      const index_t key = first + threadIdx.x * kEach + k;
      if (key < lists.keys) begin[key] = place;
      place += count[k];
    }
    __syncthreads();
  }
  if (threadIdx.x == 0) begin[lists.keys] = before;
}

}  // namespace

void sort_by_keys(std::string_view where, const SupportRows& support, const Transposed& lists,
                  Stream stream) {
  constexpr unsigned kThreadsOfKeys = 256;
  const index_t counted = std::min<index_t>(lists.keys, kSortedKeys), pairs = lists.heads * lists.keys;
  launch(where, rank_entries,
         grid_of(where, lists.heads * lists.chunks, (lists.keys + kSortedKeys - 1) / kSortedKeys),
         dim3(kWarp), static_cast<std::size_t>(counted) * sizeof(std::uint16_t), stream, support, lists);
  launch(where, add_up_chunks, grid_of(where, (pairs + kThreadsOfKeys - 1) / kThreadsOfKeys),
         dim3(kThreadsOfKeys), 0, stream, lists);
  launch(where, add_up_keys, grid_of(where, lists.heads), dim3(kWarp * kWarp), 0, stream, lists);
}

}  // namespace fenchel::cuda::device
