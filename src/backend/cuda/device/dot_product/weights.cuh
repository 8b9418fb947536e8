#pragma once

#include <cuda_runtime.h>

#include <cfloat>

#include "fenchel/core/deformed.hpp"

/// The weights of one row of scores, p = exp_{2-alpha}(z - A), by their largest one, P: with d = z - max z <=
/// 0,
///   p = (P^am1 + am1 d)_+^{1/am1}.
namespace fenchel::cuda::device {

/// A weight p, and p to the powers 2 - alpha and 3 - 2 alpha, the last one for whole 1/am1 >= 2 and else 0;
/// or sums of these.
struct WeightTerms {
  float p, escort, curve;
};

/// x^kPower.
template <int kPower>
__device__ inline float whole_power(float x) {
  if constexpr (kPower == 0) return 1;
  if constexpr (kPower == 1) return x;
  const float root = whole_power<kPower / 2>(x);
  return kPower % 2 == 0 ? root * root : root * root * x;
}

/// A row's weights as a function of d. 1/am1 is kPower, and `level` P^am1; or with kAnyPower it is any
/// number, and `level` log P.
inline constexpr int kAnyPower = 0;
template <int kPower>
struct RowWeights {
  static constexpr bool kAny = kPower == kAnyPower;
  float am1, level;

  /// As if the largest weight were one: the mass is one or more.
  __device__ static RowWeights largest(float am1) { return {am1, kAny ? 0.0f : 1.0f}; }
  __device__ static RowWeights of_peak(float am1, float peak) {
    return {am1, kAny ? logf(peak) : kPower == 1 ? peak : kPower == 2 ? sqrtf(peak) : powf(peak, am1)};
  }
  /// That of the threshold -drop.
  __device__ static float level_at(float am1, float drop) {
    return kAny ? logf(am1 * drop) / am1 : am1 * drop;
  }

  [[nodiscard]] __device__ float peak() const { return kAny ? expf(level) : whole_power<kPower>(level); }
  /// The d below which there is no weight; never 0, which has some.
  [[nodiscard]] __device__ float threshold() const {
    if constexpr (!kAny) return -kPower * level;
    return am1 == 0 ? -__builtin_huge_valf() : -fmaxf(expf(am1 * level) / am1, FLT_MIN);
  }
  [[nodiscard]] __device__ WeightTerms operator()(float d) const {
    if constexpr (kPower == 1) {
      const float p = level + d;
      return p > 0 ? WeightTerms{p, 1.0f, 0.0f} : WeightTerms{0.0f, 0.0f, 0.0f};
    } else if constexpr (!kAny) {
      const float root = fmaxf(fmaf(1.0f / kPower, d, level), 0.0f);
      const float curve = kPower > 2 ? whole_power<kPower - 2>(root) : root > 0 ? 1.0f : 0.0f;
      return {curve * root * root, curve * root, curve};
    } else {
      constexpr float kNone = -__builtin_huge_valf();
      if (d == 0) return {expf(level), expf((1 - am1) * level), 0.0f};  // also where am1 is infinite
      if (d == kNone || am1 * d == kNone) return {0.0f, 0.0f, 0.0f};
      const float change = log_deformed_exp(am1, expf(-am1 * level) * d);
      return {expf(level + change), expf((1 - am1) * (level + change)), 0.0f};
    }
  }
  /// One step towards a mass of one. Near it, by the root of the parabola that the sums give: the error that
  /// is left is about the third power of the one before.
  __device__ void step(const WeightTerms& sums) {
    if constexpr (!kAny && kPower > 1) {
      const float slope = kPower * sums.escort;
      const float root = fmaf(slope, slope, 2 * kPower * (1 - kPower) * sums.curve * (sums.p - 1));
      if (sums.p < 2 && root > 0) {
        level -= __fdividef(2 * (sums.p - 1), slope + sqrtf(root));
        return;
      }
    }
    step_from_below(sums.p, sums.escort);
  }
  /// One step of Newton's method on the norm of the weights, from a mass of one or more: for alpha <= 2 it
  /// never passes the root, since a norm is convex. The change of A is log_{2-alpha}(mass) mass^(1 - am1) /
  /// escort.
  __device__ void step_from_below(float mass, float escort) {
    if constexpr (!kAny) {
      const float norm = kPower == 1 ? mass : kPower == 2 ? sqrtf(mass) : powf(mass, am1);
      level -= __fdividef((norm - 1) * whole_power<kPower - 1>(norm), escort);
    } else {
      const float log_mass = logf(mass);
      const float change =
          deformed_log_of_exp(am1, log_mass) * expf((1 - am1) * log_mass - am1 * level) / escort;
      level += am1 == 0 ? -change : log1pf(-am1 * change) / am1;
    }
  }
};

}  // namespace fenchel::cuda::device
