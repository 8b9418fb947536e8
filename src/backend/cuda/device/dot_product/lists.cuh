#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"

/// The keys that may be in the support of a query, as they are found: a threshold that was solved on some of
/// the scores of a row is a lower bound of that of all, so that what is not above it has no weight.
namespace fenchel::cuda::device {

/// Candidates of one lane, for its two queries: scores and keys in shared memory, entry by entry, so that the
/// lanes of a warp have neighbouring words. Key has 16 bits where that is enough, for longer lists.
template <class Key>
struct CandidateLists {
  static constexpr int kCapacity = sizeof(Key) == 2 ? 26 : 19;
  static constexpr int kMostAtOnce = kPart / 4;  ///< of a query, that a lane finds in a part of a tile
  static constexpr int kEntries = 2 * kCapacity * kThreads;
  static constexpr int kBytes = kEntries * (4 + sizeof(Key));

  float* scores;  ///< this thread's
  Key* keys;
  int count[2] = {0, 0};

  __device__ explicit CandidateLists(unsigned char* memory)
      : scores(reinterpret_cast<float*>(memory) + threadIdx.x),
        keys(reinterpret_cast<Key*>(memory + kEntries * 4) + threadIdx.x) {}

  [[nodiscard]] __device__ static int place(int slot, int e) { return (slot * kCapacity + e) * kThreads; }
  __device__ void push(int slot, float score, int key) {
    const int at = place(slot, count[slot]++);
    scores[at] = score;
    keys[at] = static_cast<Key>(key);
  }
  /// Keeps the entries whose number, replaced by value(score), is above the bound.
  template <class Value>
  __device__ void keep_above(int slot, float bound, const Value& value) {
    int kept = 0;
    for (int e = 0; e < count[slot]; ++e) {
      const float x = value(scores[place(slot, e)]);
      if (x > bound) {
        scores[place(slot, kept)] = x;
        keys[place(slot, kept++)] = keys[place(slot, e)];
      }
    }
    count[slot] = kept;
  }
  __device__ void filter(const float (&bound)[2]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) keep_above(slot, bound[slot], [](float x) { return x; });
  }
  /// Gives entries of the fullest of the four lanes of a query to the emptiest, until their numbers are
  /// alike.
  __device__ void share_out() {
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      for (int turn = 0; turn < 2 * kCapacity; ++turn) {
        __syncwarp();
        int most = count[slot] * 4 + t, least = most;
        for (int distance = 1; distance < 4; distance *= 2) {
          most = max(most, __shfl_xor_sync(kAllLanes, most, distance));
          least = min(least, __shfl_xor_sync(kAllLanes, least, distance));
        }
        const bool uneven = most / 4 - least / 4 > 1;
        if (uneven && t == least % 4) {
          const int from = place(slot, most / 4 - 1) + most % 4 - t, to = place(slot, count[slot]++);
          scores[to] = scores[from];
          keys[to] = keys[from];
        }
        if (uneven && t == most % 4) --count[slot];
        if (!__any_sync(kAllLanes, uneven)) break;
      }
      __syncwarp();
    }
  }
  /// Whether a lane of the warp has no room for another part of a tile.
  [[nodiscard]] __device__ bool nearly_full() const {
    return __any_sync(kAllLanes, max(count[0], count[1]) > kCapacity - kMostAtOnce);
  }
};

/// Some of the largest scores of the two queries of a lane, eight each in different columns, and the bounds
/// that follow from those of the four lanes of a query.
struct Maxima {
  static constexpr int kCount = 8;
  float largest[2][kCount];
  float bound[2];

  __device__ Maxima() {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      bound[slot] = -__builtin_huge_valf();
#pragma unroll
      for (int k = 0; k < kCount; ++k) largest[slot][k] = -__builtin_huge_valf();
    }
  }
  /// The scores of part 0 or 1 of a tile.
  __device__ void add(const TileSums (&z)[4], int part) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        float& most = largest[slot][4 * part + j];
        most = larger_or_nan(most, larger_or_nan(z[j][2 * slot], z[j][2 * slot + 1]));
      }
    }
  }
  [[nodiscard]] __device__ float top(int slot) const {
    float most = largest[slot][0];
#pragma unroll
    for (int k = 1; k < kCount; ++k) most = larger_or_nan(most, largest[slot][k]);
    return quad_largest(most);
  }
  /// The threshold of the maxima, by so many steps; any step gives a bound, as it comes from below. Past
  /// alpha = 2, where steps may pass the root, that of the largest alone.
  __device__ void tighten(float am1, const float (&top)[2], int steps) {
    tighten_by(am1, top, steps, [&](int slot, const auto& add) {
#pragma unroll
      for (int k = 0; k < kCount; ++k) add(largest[slot][k]);
    });
  }
  /// The same of candidates.
  template <class Key>
  __device__ void tighten(float am1, const float (&top)[2], int steps, const CandidateLists<Key>& lists) {
    tighten_by(am1, top, steps, [&](int slot, const auto& add) {
      for (int e = 0; e < lists.count[slot]; ++e) add(lists.scores[lists.place(slot, e)]);
    });
  }
  /// The weights whose threshold is the bound, or with a largest weight of one.
  template <int kPower>
  [[nodiscard]] __device__ RowWeights<kPower> weights_at_bound(int slot, float am1, float top) const {
    auto weights = RowWeights<kPower>::largest(am1);
    const float drop = top - bound[slot];
    if (am1 <= 1 && drop > 0 && drop < -weights.threshold())
      weights.level = RowWeights<kPower>::level_at(am1, drop);
    return weights;
  }

 private:
  template <class ForEach>
  __device__ void tighten_by(float am1, const float (&top)[2], int steps, const ForEach& for_each) {
    with_power(am1, [&](auto power) {
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        auto weights = weights_at_bound<decltype(power)::value>(slot, am1, top[slot]);
        for (int s = 0; s < steps && am1 <= 1; ++s) {
          float mass = 0, escort = 0;
          for_each(slot, [&](float score) {
            const WeightTerms terms = weights(score - top[slot]);
            mass += terms.p;
            escort += terms.escort;
          });
          weights.step(fmaxf(quad_sum(mass), 1.0f), quad_sum(escort));
        }
        // A little below, whichever way it was rounded; what is not a number is no bound.
        constexpr float kMargin = 1e-4f, kRounding = 5e-7f;
        const float next = top[slot] + weights.threshold() * (1 + kMargin) - kRounding * fabsf(top[slot]);
        if (next > bound[slot]) bound[slot] = next;
      }
    });
  }
};

/// Makes room in the lists of a warp; false where there is none. Not inlined, since it is rare and long.
template <class Key>
struct ListsAndBounds {
  CandidateLists<Key> lists;
  Maxima maxima;
  bool has_room;
};
template <class Key>
__device__ __noinline__ ListsAndBounds<Key> with_room(ListsAndBounds<Key> x, float am1, float top0,
                                                      float top1) {
  const float top[2] = {top0, top1};
  x.maxima.tighten(am1, top, 4, x.lists);
  x.lists.filter(x.maxima.bound);
  x.lists.share_out();
  x.has_room = !x.lists.nearly_full();
  return x;
}

}  // namespace fenchel::cuda::device
