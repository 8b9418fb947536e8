#pragma once

#include "backend/cuda/device/reduce.cuh"

namespace fenchel::cuda::device {

/// Numbers that are summed together.
template <int kCount>
struct Sums {
  double of[kCount];

  [[nodiscard]] __device__ Sums shuffled(int distance) const {
    Sums other;
#pragma unroll
    for (int k = 0; k < kCount; ++k) other.of[k] = __shfl_xor_sync(kAllLanes, of[k], distance);
    return other;
  }
};

struct PlusEach {
  template <int kCount>
  __device__ Sums<kCount> operator()(const Sums<kCount>& x, const Sums<kCount>& y) const {
    Sums<kCount> sum;
#pragma unroll
    for (int k = 0; k < kCount; ++k) sum.of[k] = x.of[k] + y.of[k];
    return sum;
  }
};

}  // namespace fenchel::cuda::device
