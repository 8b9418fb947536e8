#pragma once

#include <cuda_runtime.h>

#include "backend/cuda/device/attention/space_sums.cuh"
#include "backend/cuda/device/reduce.cuh"

namespace fenchel::cuda::device {

/// The gradient of a density, summed by a warp.
template <int kD, Wanted kWanted>
class RowGradient {
 public:
  __device__ explicit RowGradient(Dimension<kD> d) { sum_.fill(d, 0); }

  __device__ void add(Dimension<kD> d, double factor, const SpaceSlopes<kD>& slopes) {
    for (int a = 0; a < d; ++a) sum_.by_mu[a] += factor * slopes.by_mu[a];
    for (int k = 0; k < d * (d + 1) / 2; ++k) sum_.by_scale[k] += factor * slopes.by_scale[k];
    if constexpr (alpha_too(kWanted)) sum_.by_alpha += factor * slopes.by_alpha;
  }

  /// For all lanes of the warp; a null alpha is not wanted.
  template <class Real>
  __device__ void store(Dimension<kD> d, const DensityTangentArrays<Real>& gradient, index_t i) const {
    const bool writes = threadIdx.x % kWarp == 0;
    for (int a = 0, k = 0; a < d; ++a) {
      const auto by_mu = static_cast<Real>(warp_reduce(sum_.by_mu[a], Plus{}));
      if (writes) gradient.mu[i * d + a] = by_mu;
      for (int b = 0; b <= a; ++b, ++k) {
        const auto entry = static_cast<Real>(warp_reduce(sum_.by_scale[k], Plus{}));
        if (writes) gradient.Sigma[(i * d + a) * d + b] = gradient.Sigma[(i * d + b) * d + a] = entry;
      }
    }
    if constexpr (alpha_too(kWanted)) {
      const auto by_alpha = static_cast<Real>(warp_reduce(sum_.by_alpha, Plus{}));
      if (writes && gradient.alpha != nullptr) gradient.alpha[i] = by_alpha;
    }
  }

 private:
  SpaceSlopes<kD> sum_;
};

}  // namespace fenchel::cuda::device
