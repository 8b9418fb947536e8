#pragma once

#include "backend/cuda/device/dot_product/lists.cuh"
#include "backend/cuda/device/dot_product/passes.cuh"

/// Rows whose support is long: the scores are computed again in each pass over the keys.
namespace fenchel::cuda::device {

/// Mass and escort mass of both queries of a lane; double keeps what is lost where weights are many and
/// alike.
struct MassSums {
  double mass[2] = {0, 0}, escort[2] = {0, 0};

  template <class Weights>
  __device__ void add(const TileSums (&z)[kTileRows / 8], float unit, const Weights (&weights)[2],
                      const float (&top)[2]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      float p = 0, s = 0;
#pragma unroll
      for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const WeightTerms terms = weights[slot](fmaf(unit, z[j][2 * slot + e], -top[slot]));
          p += terms.p;
          s += terms.escort;
        }
      }
      mass[slot] += p;
      escort[slot] += s;
    }
  }
  __device__ void over_quads() {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        mass[slot] += __shfl_xor_sync(kAllLanes, mass[slot], distance);
        escort[slot] += __shfl_xor_sync(kAllLanes, escort[slot], distance);
      }
    }
  }
};

/// Solves the rows of a block for their weights. pass(first, end, body) calls body(z) for the scores of
/// tiles, in units of `unit`; all warps take part in as many passes. Newton's method on a convex function
/// passes its root at most once, wherever it starts, and then comes from below: so the first guess may be the
/// solution on some tiles, as if all were like them.
template <int kPower, class Pass>
__device__ inline void solve_dense(float am1, float unit, const Bounds& bounds, const float (&top)[2],
                                   const KeyRange& range, RowWeights<kPower> (&weights)[2],
                                   const Pass& pass) {
  constexpr int kMostPasses = 40, kSampled = 4, kSampledSteps = 5;
  constexpr double kTooLittle = 0.05;
  // A step of Newton's method leaves about the square of what was missing, one of bisection a half.
  const double enough = am1 > 1 ? 5e-7 : 2e-4;
  float low[2], high[2] = {0, 0}, safe[2];
  bool busy[2];
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    weights[slot] = bounds.weights_at_bound<kPower>(slot, am1, top[slot]);
    low[slot] = -logf(static_cast<float>(range.warp_keys));
    busy[slot] = top[slot] > -__builtin_huge_valf() && top[slot] < __builtin_huge_valf();
    if (am1 > 1) weights[slot].level = 0.5f * low[slot];
    safe[slot] = weights[slot].level;
  }
  if (range.tiles >= 4 * kSampled && am1 <= 1) {
    const int first = range.tiles / 2 - kSampled / 2;
    const double share = static_cast<double>(range.warp_keys) / (kSampled * kTileRows);
    for (int step = 0; step < kSampledSteps; ++step) {
      MassSums sums;
      pass(first, first + kSampled,
           [&](const TileSums(&z)[kTileRows / 8], int) { sums.add(z, unit, weights, top); });
      sums.over_quads();
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        if (sums.mass[slot] * share > kTooLittle) {
          weights[slot].step(static_cast<float>(sums.mass[slot] * share),
                             static_cast<float>(sums.escort[slot] * share));
        }
      }
    }
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) weights[slot].level = fminf(weights[slot].level, safe[slot]);
  }
  for (int turn = 0; turn < kMostPasses && __syncthreads_or(busy[0] || busy[1]); ++turn) {
    MassSums sums;
    pass(0, range.tiles, [&](const TileSums(&z)[kTileRows / 8], int) { sums.add(z, unit, weights, top); });
    sums.over_quads();
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      if (!busy[slot]) continue;
      const float before = weights[slot].level;
      if (am1 > 1) {
        (sums.mass[slot] > 1 ? high : low)[slot] = before;
        weights[slot].level = 0.5f * (low[slot] + high[slot]);
      } else if (sums.mass[slot] > kTooLittle) {
        weights[slot].step(static_cast<float>(sums.mass[slot]), static_cast<float>(sums.escort[slot]));
      } else {
        weights[slot].level = safe[slot];
      }
      busy[slot] = fabs(sums.mass[slot] - 1) > enough && weights[slot].level != before;
    }
  }
}

}  // namespace fenchel::cuda::device
