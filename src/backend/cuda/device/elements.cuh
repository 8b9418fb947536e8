#pragma once

#include <cuda_runtime.h>

#include <algorithm>
#include <cstdint>

#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/launch.cuh"

/// Operations on each of many numbers, which go on between threads in packs of 16 bytes where they can.
namespace fenchel::cuda::device {

inline constexpr int kElementThreads = 256;

/// Enough blocks to fill a GPU many times over; each takes several packs in turn.
inline unsigned element_blocks(index_t items) {
  constexpr index_t kMostBlocks = 1 << 14;
  return static_cast<unsigned>(
      std::clamp((items + kElementThreads - 1) / kElementThreads, index_t{1}, kMostBlocks));
}

inline bool aligned(const void* pointer) { return reinterpret_cast<std::uintptr_t>(pointer) % 16 == 0; }

__device__ inline index_t first_item() { return static_cast<index_t>(blockIdx.x) * blockDim.x + threadIdx.x; }
__device__ inline index_t item_stride() { return static_cast<index_t>(gridDim.x) * blockDim.x; }

/// out[i] = f(in[i]), f made of the parameters by a thread once. `packs` of the numbers are taken 16 bytes at
/// a time, the rest one by one.
template <class Real, class Params>
__global__ void __launch_bounds__(kElementThreads)
    map_kernel(Params params, const Real* in, index_t count, index_t packs, Real* out) {
  constexpr int kSize = Pack<Real>::kSize;
  const auto f = params.made();
  if constexpr (Params::kPacked) {
    for (index_t i = first_item(); i < packs; i += item_stride()) {
      Pack<Real> values = load_streaming(in + i * kSize);
#pragma unroll
      for (int k = 0; k < kSize; ++k) {
        values.values[k] = static_cast<Real>(f(static_cast<double>(values.values[k])));
      }
      store_streaming(out + i * kSize, values);
    }
  }
  for (index_t i = packs * kSize + first_item(); i < count; i += item_stride()) {
    out[i] = static_cast<Real>(f(static_cast<double>(in[i])));
  }
}

/// Params::made() gives the function of a double on the GPU; Params::kPacked says that it is short enough for
/// a thread to take several numbers at once. `out` may be `in`.
template <class Real, class Params>
void map(std::string_view where, const Params& params, const Real* in, index_t count, Real* out,
         Stream stream) {
  if (count == 0) return;
  const index_t packs = Params::kPacked && aligned(in) && aligned(out) ? count / Pack<Real>::kSize : 0;
  const unsigned blocks = element_blocks(packs > 0 ? packs : count);
  launch(where, map_kernel<Real, Params>, blocks, kElementThreads, 0, stream, params, in, count, packs, out);
}

}  // namespace fenchel::cuda::device
