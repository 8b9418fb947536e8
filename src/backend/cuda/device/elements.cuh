#pragma once

#include <cuda_runtime.h>

#include <algorithm>

#include "backend/cuda/launch.cuh"

/// Which of many numbers a thread has.
namespace fenchel::cuda::device {

inline constexpr int kElementThreads = 256;

/// Enough blocks to fill a GPU many times over; each takes several numbers in turn.
inline unsigned element_blocks(index_t items) {
  constexpr index_t kMostBlocks = 1 << 14;
  return static_cast<unsigned>(
      std::clamp((items + kElementThreads - 1) / kElementThreads, index_t{1}, kMostBlocks));
}

__device__ inline index_t first_item() { return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline index_t item_stride() { return static_cast<index_t>(gridDim.x) * blockDim.x; }

}  // namespace fenchel::cuda::device
