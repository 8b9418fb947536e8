#pragma once

#include <cuda_runtime.h>

#include "backend/cuda/attention/any_arrays.cuh"
#include "backend/cuda/device/attention/space_sums.cuh"
#include "backend/cuda/device/reduce.cuh"

namespace fenchel::cuda::device {

/// The gradient of a density, summed by a warp.
template <int kD, Wanted kWanted>
class RowGradient {
 public:
  __device__ explicit RowGradient(Dimension<kD> d) { sum_.fill(d, 0); }

  __device__ void add(Dimension<kD> d, double factor, const SpaceSlopes<kD>& slopes) {
    FENCHEL_ROLLED(d)
    for (int a = 0; a < d; ++a) sum_.by_mu[a] += factor * slopes.by_mu[a];
    FENCHEL_ROLLED(d)
    for (int k = 0; k < d * (d + 1) / 2; ++k) sum_.by_scale[k] += factor * slopes.by_scale[k];
    if constexpr (alpha_too(kWanted)) sum_.by_alpha += factor * slopes.by_alpha;
  }

  /// For all lanes of the warp; an alpha that is not given is not wanted.
  template <class Array>
  __device__ void store(Dimension<kD> d, const TangentsIn<Array>& gradient, index_t i) const {
    const bool writes = threadIdx.x % kWarp == 0;
    for (int a = 0, k = 0; a < d; ++a) {
      const double by_mu = warp_reduce(sum_.by_mu[a], Plus{});
      if (writes) gradient.mu.set(i * d + a, by_mu);
      FENCHEL_ROLLED(d)
      for (int b = 0; b <= a; ++b, ++k) {
        const double entry = warp_reduce(sum_.by_scale[k], Plus{});
        if (!writes) continue;
        gradient.Sigma.set((i * d + a) * d + b, entry);
        gradient.Sigma.set((i * d + b) * d + a, entry);
      }
    }
    if constexpr (alpha_too(kWanted)) {
      const double by_alpha = warp_reduce(sum_.by_alpha, Plus{});
      if (writes && gradient.alpha.given()) gradient.alpha.set(i, by_alpha);
    }
  }

 private:
  SpaceSlopes<kD> sum_;
};

}  // namespace fenchel::cuda::device
