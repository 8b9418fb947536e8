#pragma once

#include "backend/cuda/device/dot_product/lists.cuh"
#include "backend/cuda/device/dot_product/passes.cuh"

/// Rows whose support is long: the scores are computed again in each pass over the keys.
namespace fenchel::cuda::device {

/// The sums over the weights of both queries of a lane; double keeps what is lost where weights are many and
/// alike.
struct MassSums {
  double mass[2] = {0, 0}, escort[2] = {0, 0}, curve[2] = {0, 0};

  template <class Weights>
  __device__ void add(const TileSums (&z)[kTileRows / 8], float unit, const Weights (&weights)[2],
                      const float (&top)[2]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      WeightTerms sum{0, 0, 0};
#pragma unroll
      for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 2; ++e) {
          const WeightTerms terms = weights[slot](fmaf(unit, z[j][2 * slot + e], -top[slot]));
          sum.p += terms.p;
          sum.escort += terms.escort;
          sum.curve += terms.curve;
        }
      }
      mass[slot] += sum.p;
      escort[slot] += sum.escort;
      curve[slot] += sum.curve;
    }
  }
  __device__ void over_quads() {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        mass[slot] += __shfl_xor_sync(kAllLanes, mass[slot], distance);
        escort[slot] += __shfl_xor_sync(kAllLanes, escort[slot], distance);
        curve[slot] += __shfl_xor_sync(kAllLanes, curve[slot], distance);
      }
    }
  }
  /// Where a share of the keys was seen, as if all were like them.
  [[nodiscard]] __device__ WeightTerms of(int slot, double share = 1) const {
    return {static_cast<float>(mass[slot] * share), static_cast<float>(escort[slot] * share),
            static_cast<float>(curve[slot] * share)};
  }
};

/// Solves the rows of a block for their weights. pass(first, end, body) calls body(z) for the scores of
/// tiles, in units of `unit`; all warps take part in as many passes. The first guess is the solution on some
/// tiles, more of them with each step, as if all were like them.
template <int kPower, class Pass>
__device__ inline void solve_dense(float am1, float unit, const Bounds& bounds, const float (&top)[2],
                                   const BlockKeys& range, RowWeights<kPower> (&weights)[2],
                                   const Pass& pass) {
  constexpr int kMostPasses = 40, kSampled[] = {4, 4, 4, 8, 16};
  constexpr double kTooLittle = 0.05;
  // A step leaves about the third power of what was missing, of Newton's method the square, and of bisection
  // a half.
  const double enough = am1 > 1 ? 5e-7 : kPower > 1 ? 2e-2 : 2e-4;
  float low[2], high[2] = {0, 0}, safe[2];
  bool busy[2];
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    weights[slot] = bounds.weights_at_bound<kPower>(slot, am1, top[slot]);
    low[slot] = -logf(static_cast<float>(range.count()));
    busy[slot] = top[slot] > -__builtin_huge_valf() && top[slot] < __builtin_huge_valf();
    if (am1 > 1) weights[slot].level = 0.5f * low[slot];
    safe[slot] = weights[slot].level;
  }
  if (range.tiles >= 4 * kSampled[0] && am1 <= 1) {
    for (const int most : kSampled) {
      const int sampled = min(most, range.tiles / 4), first = range.tiles / 2 - sampled / 2;
      const double share = static_cast<double>(range.count()) / (sampled * kTileRows);
      MassSums sums;
      pass(first, first + sampled,
           [&](const TileSums(&z)[kTileRows / 8], int) { sums.add(z, unit, weights, top); });
      sums.over_quads();
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        if (sums.mass[slot] * share > kTooLittle) weights[slot].step(sums.of(slot, share));
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
        weights[slot].step(sums.of(slot));
      } else {
        weights[slot].level = safe[slot];
      }
      busy[slot] = fabs(sums.mass[slot] - 1) > enough && weights[slot].level != before;
    }
  }
}

}  // namespace fenchel::cuda::device
