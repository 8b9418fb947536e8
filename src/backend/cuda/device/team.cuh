#pragma once

#include <cooperative_groups.h>

#include "backend/cuda/device/reduce.cuh"
#include "fenchel/core/index.hpp"

/// The threads that share a row, and what they find out together. Every thread of a block takes part in every
/// reduction, so a loop ends when any() of its threads need no further turn: a row that is done earlier
/// stands still, and no row depends on its neighbours.
namespace fenchel::cuda::device {

/// kLanes neighbours of a warp, several rows a block.
template <int kThreads, int kLanes>
class WarpTeam {
 public:
  static constexpr bool kInWarp = true;
  static constexpr int kSize = kLanes, kBlockThreads = kThreads, kBlocks = 1, kRows = kThreads / kLanes;

  [[nodiscard]] __device__ index_t row() const {
    return index_t{blockIdx.x} * kRows + static_cast<int>(threadIdx.x) / kLanes;
  }
  [[nodiscard]] __device__ int rank() const { return static_cast<int>(threadIdx.x) % kLanes; }
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value reduce(Value x, Operation operation) {
    return warp_reduce<kLanes>(x, operation);
  }
  __device__ void meet() const {}
  __device__ void sync() const { __syncwarp(); }
  template <class Value>
  __device__ void store(Value* address, const Value& x) const {
    *address = x;
  }
  [[nodiscard]] __device__ bool any(bool here) const {
    return kLanes == kWarp ? here : __any_sync(kAllLanes, here) != 0;
  }
};

/// kBlockCount blocks of kThreads, one row: a cluster where there are several.
template <int kThreads, int kBlockCount = 1>
class BlockTeam {
 public:
  static constexpr bool kInWarp = false;
  static constexpr int kSize = kThreads * kBlockCount, kBlockThreads = kThreads, kBlocks = kBlockCount,
                       kRows = 1;

  __device__ BlockTeam() {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) cooperative_groups::this_cluster().barrier_arrive();
#endif
  }
  /// To be called before the first reduction: blocks of a cluster write to each other once all have begun.
  __device__ void meet() const {
#if __CUDA_ARCH__ >= 900
    if constexpr (kBlocks > 1) cooperative_groups::this_cluster().barrier_wait();
#endif
  }
  [[nodiscard]] __device__ index_t row() const { return blockIdx.x / kBlocks; }
  [[nodiscard]] __device__ int rank() const {
    return static_cast<int>(blockIdx.x % kBlocks * kThreads + threadIdx.x);
  }
  /// Each warp gives its result to every block, and after one barrier all add up the same ones. Two sets of
  /// slots take turns.
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value reduce(Value x, Operation operation) {
    static_assert(sizeof(Value) <= kSlotBytes);
    auto* const slots = reinterpret_cast<Value*>(memory(turn_));
    turn_ ^= 1;
    const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
    x = warp_reduce(x, operation);
    if constexpr (kBlocks == 1) {
      if (lane == 0) slots[warp] = x;
      __syncthreads();
    } else {
#if __CUDA_ARCH__ >= 900  // what is compiled for others is never launched in clusters
      const auto cluster = cooperative_groups::this_cluster();
      if (lane < kBlocks) {
        *cluster.map_shared_rank(slots + blockIdx.x % kBlocks * kWarps + warp, lane) = x;
      }
      cluster.sync();
#endif
    }
    x = slots[lane % kParts];
    for (int part = lane + kWarp; part < kParts; part += kWarp) x = operation(x, slots[part]);
    return warp_reduce<(kParts < kWarp ? kParts : kWarp)>(x, operation);
  }
  [[nodiscard]] __device__ bool any(bool here) const { return here; }
  /// A barrier for all of its threads.
  __device__ void sync() const {
    if constexpr (kBlocks == 1) {
      __syncthreads();
    } else {
#if __CUDA_ARCH__ >= 900
      cooperative_groups::this_cluster().sync();
#endif
    }
  }
  /// Writes to shared memory of each of its blocks, at what is this address in its own.
  template <class Value>
  __device__ void store(Value* address, const Value& x) const {
    if constexpr (kBlocks == 1) {
      *address = x;
    } else {
#if __CUDA_ARCH__ >= 900
#pragma unroll
      for (int block = 0; block < kBlocks; ++block) {
        *cooperative_groups::this_cluster().map_shared_rank(address, block) = x;
      }
#endif
    }
  }

 private:
  static constexpr int kSlotBytes = 32, kWarps = kThreads / kWarp, kParts = kWarps * kBlocks;

  [[nodiscard]] __device__ static unsigned char* memory(int turn) {
    __shared__ alignas(16) unsigned char slots[2][kParts * kSlotBytes];
    return slots[turn];
  }

  int turn_ = 0;
};

/// A lane for each of 32 neighbouring rows, kWarps threads a row: for rows that run across memory.
template <int kWarps>
class ColumnTeam {
 public:
  static constexpr int kSize = kWarps, kBlockThreads = kWarps * kWarp, kBlocks = 1, kRows = kWarp;

  [[nodiscard]] __device__ index_t row() const {
    return index_t{blockIdx.x} * kRows + static_cast<int>(threadIdx.x) % kWarp;
  }
  [[nodiscard]] __device__ int rank() const { return static_cast<int>(threadIdx.x) / kWarp; }
  template <class Value, class Operation>
  [[nodiscard]] __device__ Value reduce(Value x, Operation operation) {
    static_assert(sizeof(Value) <= kSlotBytes);
    auto* const slots = reinterpret_cast<Value*>(memory());
    const int lane = static_cast<int>(threadIdx.x) % kWarp;
    __syncthreads();
    slots[threadIdx.x] = x;
    __syncthreads();
    x = slots[lane];
    for (int warp = 1; warp < kWarps; ++warp) x = operation(x, slots[warp * kWarp + lane]);
    return x;
  }
  __device__ void meet() const {}
  [[nodiscard]] __device__ bool any(bool here) const { return __syncthreads_or(here) != 0; }

 private:
  static constexpr int kSlotBytes = 32;

  [[nodiscard]] __device__ static unsigned char* memory() {
    __shared__ alignas(16) unsigned char slots[kBlockThreads * kSlotBytes];
    return slots;
  }
};

}  // namespace fenchel::cuda::device
