#pragma once

#include "backend/cuda/device/dot_product/cache.cuh"
#include "backend/cuda/device/dot_product/problem.cuh"

/// The threshold of each row of scores of a cache, one block a row. The largest scores of the groups alone
/// give a lower bound of it; the scores above that bound, mostly few, are kept in shared memory and solved.
namespace fenchel::cuda::device {

/// Weights and their powers, as they are added up over a block.
struct TermSums {
  WeightTerms sum{0, 0, 0};

  __device__ void add(const WeightTerms& x) {
    sum.p += x.p;
    sum.escort += x.escort;
    sum.curve += x.curve;
  }
  __device__ TermSums operator+(const TermSums& x) const {
    TermSums both = *this;
    both.add(x.sum);
    return both;
  }
  [[nodiscard]] __device__ TermSums shuffled(int distance) const {
    return {{__shfl_xor_sync(kAllLanes, sum.p, distance), __shfl_xor_sync(kAllLanes, sum.escort, distance),
             __shfl_xor_sync(kAllLanes, sum.curve, distance)}};
  }
};

/// A block's row of scores, less the largest of them.
template <class T, int kThreads>
class CachedRow {
 public:
  static constexpr int kBlockWarps = kThreads / kWarp;
  static constexpr int kSums = kBlockWarps * 2 * (sizeof(TermSums) + 4);  ///< bytes of shared memory
  /// With room for so many scores that a warp can keep, and the other way round.
  [[nodiscard]] static constexpr int shared(int room) { return kSums + kBlockWarps * room * 4; }
  [[nodiscard]] static constexpr int room(int shared) { return (shared - kSums) / (kBlockWarps * 4); }

  __device__ CachedRow(const CachedProblem<T>& p, unsigned row, unsigned char* shared, int room)
      : room_(room),
        scores_(p.scores + static_cast<index_t>(row) * p.columns()),
        largest_(p.largest + static_cast<index_t>(row) * p.groups()),
        count_((p.length(p.place(row).b) + kGroupKeys - 1) / kGroupKeys),
        sums_(reinterpret_cast<TermSums*>(shared)),
        maxima_(reinterpret_cast<float*>(sums_ + 2 * kBlockWarps)),
        kept_(maxima_ + 2 * kBlockWarps + threadIdx.x / kWarp * room) {
    float top = -__builtin_huge_valf();
    for (int g = threadIdx.x; g < count_; g += kThreads) top = larger_or_nan(top, largest_[g]);
    top_ = block_reduce<kThreads>(top, Larger(), maxima_, 0);
  }
  [[nodiscard]] __device__ float top() const { return top_; }
  [[nodiscard]] __device__ float groups() const { return static_cast<float>(count_); }

  /// Sums over the groups, as if each had its largest score alone.
  template <class Weights>
  [[nodiscard]] __device__ WeightTerms over_groups(const Weights& weights) {
    TermSums sums;
    for (int g = threadIdx.x; g < count_; g += kThreads) sums.add(weights(largest_[g] - top_));
    return total(sums);
  }
  /// Keeps the scores above a bound, if all warps have room for theirs.
  __device__ void keep_above(float bound) {
    int kept = 0;
    for (int first = threadIdx.x / kWarp * kWarp; first < count_ && kept <= room_; first += kThreads) {
      const int g = first + lane();
      const bool open = g < count_ && largest_[g] - top_ > bound;
      if (!__any_sync(kAllLanes, open)) continue;
      float scores[kGroupKeys];
      int above = 0;
      read_group(scores, g, open);
#pragma unroll
      for (const float score : scores) above += score > bound;
      const Placed placed = placed_in_warp(above);
      int place = kept + placed.before;
#pragma unroll
      for (const float score : scores) {
        if (score > bound && place < room_) kept_[place] = score;
        place += score > bound;
      }
      kept += placed.all;
    }
    has_kept_ = __syncthreads_or(kept > room_) == 0;
    if (has_kept_) count_ = kept;
  }
  /// Sums over what was kept, or over all scores of open groups.
  template <class Weights>
  [[nodiscard]] __device__ WeightTerms over_scores(const Weights& weights) {
    TermSums sums;
    if (has_kept_) {
      for (int k = lane(); k < count_; k += kWarp) sums.add(weights(kept_[k]));
    } else {
      const float bound = (1 + kThresholdSlack) * weights.threshold();
      for (int g = threadIdx.x; g < count_; g += kThreads) {
        if (!(largest_[g] - top_ > bound)) continue;
        float scores[kGroupKeys];
        read_group(scores, g, true);
#pragma unroll
        for (const float score : scores) sums.add(weights(score));
      }
    }
    return total(sums);
  }

 private:
  /// Those of a group, or -inf where it is not wanted.
  __device__ void read_group(float (&scores)[kGroupKeys], int g, bool is_wanted) const {
    const auto* const group = reinterpret_cast<const float4*>(scores_ + static_cast<index_t>(g) * kGroupKeys);
#pragma unroll
    for (int k = 0; k < kGroupKeys; k += 4) {
      constexpr float kNone = -__builtin_huge_valf();
      const float4 four = is_wanted ? group[k / 4] : float4{kNone, kNone, kNone, kNone};
      scores[k] = four.x - top_, scores[k + 1] = four.y - top_;
      scores[k + 2] = four.z - top_, scores[k + 3] = four.w - top_;
    }
  }
  [[nodiscard]] __device__ static int lane() { return static_cast<int>(threadIdx.x % kWarp); }
  [[nodiscard]] __device__ WeightTerms total(const TermSums& own) {
    return block_reduce<kThreads>(own, Plus(), sums_, turn_++).sum;
  }

  int room_;
  const float *scores_, *largest_;
  int count_;  ///< of groups, or of scores that this warp has kept
  TermSums* sums_;
  float *maxima_, *kept_;
  float top_;
  int turn_ = 0;
  bool has_kept_ = false;
};

/// Levels with masses on either side of one past alpha = 2, where the norm is not convex, by bisection.
struct Levels {
  float low, high;
};
template <class Sums>
__device__ inline Levels bisected_levels(RowWeights<kAnyPower> weights, float count, int halvings,
                                         const Sums& sums) {
  Levels levels{-logf(count), 0};
  for (int k = 0; k < halvings; ++k) {
    weights.level = 0.5f * (levels.low + levels.high);
    if (!(weights.level > levels.low && weights.level < levels.high)) break;
    (sums(weights).p > 1 ? levels.high : levels.low) = weights.level;
  }
  return levels;
}

/// Weights whose threshold is not above that of the row: that of the largest scores of its groups, of which
/// one at least is a number.
template <class Row, int kPower>
__device__ inline RowWeights<kPower> weights_of_bound(Row& row, RowWeights<kPower> weights) {
  constexpr int kSteps = 8, kHalvings = 12;
  constexpr float kNear = 1.3f;  // as a mass: after a step from there more steps would leave out little
  const auto over_groups = [&](const auto& w) { return row.over_groups(w); };
  if constexpr (weights.kAny) {
    if (weights.am1 > 1) weights.level = bisected_levels(weights, row.groups(), kHalvings, over_groups).high;
  }
  for (int s = 0; s < kSteps && weights.am1 <= 1; ++s) {
    const WeightTerms sums = over_groups(weights);
    weights.step_from_below(fmaxf(sums.p, 1.0f), sums.escort);
    if (!(sums.p > kNear)) break;
  }
  return weights;
}

/// The weights of a row of scores, of which one at least is a number.
template <class Row, int kPower>
__device__ inline void solve(SolvedRow& solved, Row& row, RowWeights<kPower> weights) {
  constexpr int kMostSteps = 24, kHalvings = 40;
  // Of the level. A step of the parabola leaves about the third power of itself, one of Newton's the second.
  constexpr float kEnough = kPower > 1 ? 1e-3f : 3e-5f;
  const float scores = kGroupKeys * row.groups();
  weights = weights_of_bound(row, weights);
  row.keep_above((1 + kThresholdSlack) * weights.threshold());
  const auto over_scores = [&](const auto& w) { return row.over_scores(w); };
  if constexpr (weights.kAny) {
    if (weights.am1 > 1) {
      const Levels levels = bisected_levels(weights, scores, kHalvings, over_scores);
      const auto mass = [&](float level) {
        weights.level = level;
        return over_scores(weights).p;
      };
      const float below = mass(levels.low), above = mass(levels.high);
      solved.level = levels.high, solved.below = levels.low;
      if (above > below) solved.share = fminf(fmaxf((1 - below) / (above - below), 0.0f), 1.0f);
      return;
    }
  }
  for (int s = 0; s < kMostSteps; ++s) {
    const WeightTerms sums = over_scores(weights);
    const float before = weights.level;
    weights.step(sums);
    if (!(fabsf(weights.level - before) > kEnough * fabsf(before))) break;
  }
  solved.level = solved.below = weights.level;
}

template <class T, int kThreads>
__global__ void __launch_bounds__(kThreads)
    thresholds_of_cache(const __grid_constant__ CachedProblem<T> p, const int room) {
  extern __shared__ __align__(16) unsigned char shared[];
  wait_for_kernel_before();
  const unsigned row = blockIdx.x;
  const auto am1 = static_cast<float>(p.x.alpha[p.place(row).h] - 1);
  CachedRow<T, kThreads> scores(p, row, shared, room);
  SolvedRow solved{scores.top(), 0, 0, 1, RowKind::kWeights};
  if (scores.top() == -__builtin_huge_valf()) {
    solved.kind = RowKind::kNothing;
  } else if (!(am1 >= 0) || !(scores.top() < __builtin_huge_valf())) {
    solved.kind = RowKind::kNaN;
  } else {
    with_power(am1,
               [&](auto power) { solve(solved, scores, RowWeights<decltype(power)::value>::largest(am1)); });
  }
  if (threadIdx.x == 0) p.rows[row] = solved;
}

}  // namespace fenchel::cuda::device
