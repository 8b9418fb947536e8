#pragma once

#include <cuda_runtime.h>

#include <type_traits>

/// Sums, maxima and places over the threads of a warp or a block, given to all of them. The order of the
/// operations depends on the size of the block alone, so results are the same in every run.
namespace fenchel::cuda::device {

inline constexpr int kWarp = 32;
inline constexpr unsigned kAllLanes = 0xffffffffu;

struct Plus {
  template <class Value>
  __device__ Value operator()(Value x, Value y) const {
    return x + y;
  }
};
/// Of a neighbour's number; sums of several numbers have a member that moves each.
template <class Value>
__device__ inline Value shuffled(Value x, int distance) {
  if constexpr (std::is_arithmetic_v<Value>) {
    return __shfl_xor_sync(kAllLanes, x, distance);
  } else {
    return x.shuffled(distance);
  }
}

/// NaN where one of them is.
struct Larger {
  template <class Value>
  __device__ Value operator()(Value x, Value y) const {
    return x > y || x != x ? x : y;
  }
};

/// Over groups of kLanes neighbours of a warp, a power of two.
template <int kLanes = kWarp, class Value, class Operation>
__device__ inline Value warp_reduce(Value x, Operation operation) {
#pragma unroll
  for (int distance = kLanes / 2; distance > 0; distance /= 2) {
    x = operation(x, shuffled(x, distance));
  }
  return x;
}

/// How many of the things that threads have come before those of a thread, and how many there are.
struct Placed {
  int before, all;
};

/// Of counts of the kLanes neighbours of a warp.
template <int kLanes = kWarp>
__device__ inline Placed placed_in_warp(int mine) {
  int through = mine;
  const int lane = static_cast<int>(threadIdx.x) % kLanes;
#pragma unroll
  for (int distance = 1; distance < kLanes; distance *= 2) {
    const int before = __shfl_up_sync(kAllLanes, through, distance, kLanes);
    through += lane >= distance ? before : 0;
  }
  return {through - mine, __shfl_sync(kAllLanes, through, kLanes - 1, kLanes)};
}

/// Over a block of kThreads, which is 32 times a power of two. `shared` has room for a value a warp, twice,
/// so that one barrier a call is enough: calls take turns between its halves by `turn`.
template <int kThreads, class Value, class Operation>
__device__ inline Value block_reduce(Value x, Operation operation, Value* shared, int turn) {
  constexpr int kWarps = kThreads / kWarp;
  static_assert(kWarps * kWarp == kThreads && kWarps <= kWarp && (kWarps & (kWarps - 1)) == 0);
  x = warp_reduce(x, operation);
  if constexpr (kWarps == 1) return x;
  Value* const half = shared + turn % 2 * kWarps;
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  if (lane == 0) half[warp] = x;
  __syncthreads();
  return warp_reduce<kWarps>(half[lane % kWarps], operation);
}

}  // namespace fenchel::cuda::device
