#pragma once

#include "backend/cuda/device/dot_product/problem.cuh"

/// The keys that may be in the support of a query, as they are found: a threshold that was solved on some of
/// the scores of a row is a lower bound of that of all, so that what is not above it has no weight.
namespace fenchel::cuda::device {

/// a + b by the unit that multiplies, where comparisons keep the one that adds busy: blocks have one row of
/// threads, which the compiler does not know.
__device__ inline unsigned sum_by_product(unsigned a, unsigned b) {
  unsigned sum;
  asm("mad.lo.u32 %0, %1, %2, %3;" : "=r"(sum) : "r"(blockDim.y), "r"(b), "r"(a));
  return sum;
}

/// Candidates of one lane, for its two queries: pairs of the scores of neighbouring keys, without their unit,
/// one of which at least may have weight, and the first key of each pair. They are in shared memory, pair by
/// pair, so that the lanes of a warp have neighbouring words; those of the first query from the one end on,
/// those of the second from the other. Key has 16 bits where that is enough, for longer lists.
template <class Key, int kBytesOfAll>
struct CandidateLists {
  static constexpr int kKeysAtOnce = 16,
                       kMostAtOnce = kKeysAtOnce / 4;  ///< keys, and pairs that a lane finds
  static constexpr int kStride = kThreads * (8 + static_cast<int>(sizeof(Key)));
  static constexpr int kCapacity = kBytesOfAll / kStride, kBytes = kCapacity * kStride;

  unsigned first;   ///< the address of this thread's first pair
  unsigned end[2];  ///< where the next pair of each query will be

  __device__ explicit CandidateLists(unsigned memory)
      : first(memory + 8 * threadIdx.x), end{begin(0), begin(1)} {}

  [[nodiscard]] __device__ unsigned begin(int slot) const {
    return slot == 0 ? first : first + (kCapacity - 1) * kStride;
  }
  [[nodiscard]] __device__ static constexpr int step(int slot) { return slot == 0 ? kStride : -kStride; }
  [[nodiscard]] __device__ int count(int slot) const {
    return static_cast<int>(end[slot] - begin(slot)) / step(slot);
  }
  /// body(address) for the pairs of a query.
  template <class Body>
  __device__ void for_each(int slot, const Body& body) const {
    for (unsigned at = begin(slot); at != end[slot]; at += step(slot)) body(at);
  }
  /// Adds a pair if its larger score is above the bound, without a branch: lanes rarely agree.
  __device__ void push_above(int slot, float bound, float larger, float low, float high, int key) {
    if constexpr (sizeof(Key) == 2) {
      asm volatile(
          "{ .reg .pred p; setp.gt.f32 p, %1, %4; @p st.shared.v2.f32 [%0], {%2,%3}; "
          "@p st.shared.u16 [%5], %6; @p mad.lo.u32 %0, %8, %7, %0; }"
          : "+r"(end[slot])
          : "f"(larger), "f"(low), "f"(high), "f"(bound), "r"(sum_by_product(end[slot], key_address(0))),
            "r"(key), "r"(step(slot)), "r"(blockDim.y)
          : "memory");
    } else if (larger > bound) {
      store(end[slot], {low, high});
      store_key(end[slot], key);
      end[slot] += step(slot);
    }
  }
  [[nodiscard]] __device__ static float2 load(unsigned at) {
    float2 pair;
    asm volatile("ld.shared.v2.f32 {%0,%1}, [%2];" : "=f"(pair.x), "=f"(pair.y) : "r"(at) : "memory");
    return pair;
  }
  __device__ static void store(unsigned at, float2 pair) {
    asm volatile("st.shared.v2.f32 [%0], {%1,%2};" ::"r"(at), "f"(pair.x), "f"(pair.y) : "memory");
  }
  [[nodiscard]] __device__ static int load_key(unsigned at) {
    int key;
    if constexpr (sizeof(Key) == 2) {
      asm volatile("ld.shared.u16 %0, [%1];" : "=r"(key) : "r"(key_address(at)) : "memory");
    } else {
      asm volatile("ld.shared.u32 %0, [%1];" : "=r"(key) : "r"(key_address(at)) : "memory");
    }
    return key;
  }
  /// Of the pair of a lane that is so many after this one, where `at` is this one's.
  __device__ static void store_key(unsigned at, int key, int lanes_after = 0) {
    if constexpr (sizeof(Key) == 2) {
      asm volatile("st.shared.u16 [%0], %1;" ::"r"(key_address(at, lanes_after)), "r"(key) : "memory");
    } else {
      asm volatile("st.shared.u32 [%0], %1;" ::"r"(key_address(at, lanes_after)), "r"(key) : "memory");
    }
  }
  /// Drops the pairs with nothing above the bounds. Each is loaded before the one before it is looked at.
  __device__ void filter(const float (&bound)[2]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      unsigned kept = begin(slot), at = kept;
      const unsigned past = end[slot];
      float2 next = {0, 0};
      int next_key = 0;
      const auto load_next = [&] {
        if (at == past) return;
        next = load(at);
        next_key = load_key(at);
      };
      load_next();
      while (at != past) {
        const float2 pair = next;
        const int key = next_key;
        at += step(slot);
        load_next();
        if (!(fmaxf(pair.x, pair.y) > bound[slot])) continue;
        store(kept, pair);
        store_key(kept, key);
        kept += step(slot);
      }
      end[slot] = kept;
    }
  }
  /// Evens out the numbers of pairs of the four lanes of a query: those with too many give their last ones.
  __device__ void share_out() {
    const int t = threadIdx.x % 4;
    __syncwarp();
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      int counts[4], total = 0;
#pragma unroll
      for (int lane = 0; lane < 4; ++lane)
        total += counts[lane] = __shfl_sync(kAllLanes, count(slot), lane, 4);
      const auto share = [&](int lane) { return (total + 3 - lane) / 4; };
      int given = 0, own = 0;  // pairs that lanes before this one give, and all that this one has in the end
#pragma unroll
      for (int lane = 0; lane < 4; ++lane) {
        if (lane < t) given += max(counts[lane] - share(lane), 0);
        if (lane == t) own = share(lane);
      }
      const int room = static_cast<int>(end[1] - end[0]) / kStride + 1;
      const unsigned all_have_room = __ballot_sync(kAllLanes, own - count(slot) <= room);
      if ((all_have_room >> (threadIdx.x % kWarp & ~3u) & 0xf) != 0xf) continue;
      for (int k = own; k < count(slot); ++k) {
        int to = 0, place = given++;  // the lane that misses the pair, and which one of those that it misses
#pragma unroll
        for (int lane = 0; lane < 3; ++lane) {
          const int misses = max(share(lane) - counts[lane], 0);
          if (to == lane && place >= misses) {
            place -= misses;
            ++to;
          }
        }
        int count_to = counts[0];
#pragma unroll
        for (int lane = 1; lane < 4; ++lane) count_to = to == lane ? counts[lane] : count_to;
        const unsigned at = begin(slot) + k * step(slot),
                       there = begin(slot) + (count_to + place) * step(slot);
        store(there + 8 * (to - t), load(at));
        store_key(there, load_key(at), to - t);
      }
      end[slot] = begin(slot) + own * step(slot);
    }
    __syncwarp();
  }
  /// Whether a lane of the warp has no room for so many pairs more; those of the next kKeysAtOnce keys by
  /// default.
  [[nodiscard]] __device__ bool nearly_full(int pairs = kMostAtOnce) const {
    return __any_sync(kAllLanes, static_cast<int>(end[1] - end[0]) < (pairs - 1) * kStride);
  }

 private:
  /// The keys of all threads follow their pairs.
  [[nodiscard]] __device__ static unsigned key_address(unsigned at, int lanes_after = 0) {
    constexpr auto kSize = static_cast<int>(sizeof(Key));
    return at + 8 * kThreads - (8 - kSize) * threadIdx.x + kSize * lanes_after;
  }
};

/// Below the thresholds of the two queries of a lane: what a step of Newton's method on some of the scores
/// gives, as it comes from below. Past alpha = 2, where steps may pass the root, the largest score alone
/// gives it.
struct Bounds {
  float bound[2] = {-__builtin_huge_valf(), -__builtin_huge_valf()};

  /// By so many steps on candidates.
  template <class Lists>
  __device__ void tighten_by_lists(float am1, float unit, const float (&top)[2], int steps,
                                   const Lists& lists) {
    tighten_by(am1, top, steps, [&](int slot, const auto& add) {
      lists.for_each(slot, [&](unsigned at) {
        const float2 pair = lists.load(at);
        add(unit * pair.x);
        add(unit * pair.y);
      });
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

 protected:
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
          weights.step_from_below(fmaxf(quad_sum(mass), 1.0f), quad_sum(escort));
        }
        // A little below, whichever way it was rounded; what is not a number is no bound.
        constexpr float kMargin = 1e-4f, kRounding = 5e-7f;
        const float next = top[slot] + weights.threshold() * (1 + kMargin) - kRounding * fabsf(top[slot]);
        if (next > bound[slot]) bound[slot] = next;
      }
    });
  }
};

/// Some of the largest scores of the two queries of a lane, eight each in different columns.
struct Maxima : Bounds {
  static constexpr int kCount = kTileRows / 8;
  float largest[2][kCount];

  __device__ Maxima() {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) largest[slot][j] = -__builtin_huge_valf();
    }
  }
  /// Two scores of a tile, without their unit; the larger one.
  __device__ float add(int slot, int j, float low, float high) {
    const float larger = larger_or_nan(low, high);
    largest[slot][j] = larger_or_nan(largest[slot][j], larger);
    return larger;
  }
  /// All scores of a tile.
  __device__ void add(const TileSums (&z)[kCount]) {
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) add(slot, j, z[j][2 * slot], z[j][2 * slot + 1]);
    }
  }
  /// Which share of these is above the bounds, over the warp.
  [[nodiscard]] __device__ float share_above(float unit) const {
    int above = 0;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) above += unit * largest[slot][j] > bound[slot];
    }
    return static_cast<float>(warp_reduce(above, Plus())) / (2 * kCount * kWarp);
  }
  /// The largest score so far, in its unit.
  [[nodiscard]] __device__ float top(int slot, float unit) const {
    float most = largest[slot][0];
#pragma unroll
    for (int j = 1; j < kCount; ++j) most = larger_or_nan(most, largest[slot][j]);
    return unit * quad_largest(most);
  }
  /// It, and bounds by so many steps on all.
  __device__ void tighten(float am1, float unit, float (&top)[2], int steps) {
    top[0] = this->top(0, unit);
    top[1] = this->top(1, unit);
    tighten_by(am1, top, steps, [&](int slot, const auto& add) {
#pragma unroll
      for (int j = 0; j < kCount; ++j) add(unit * largest[slot][j]);
    });
  }
};

/// Makes room in the lists of a warp, by bounds that are nearer. Not inlined, since it is rare and long.
template <class Lists>
struct ListsAndBounds {
  Lists lists;
  Bounds bounds;
};
template <class Lists>
__device__ __noinline__ ListsAndBounds<Lists> with_room(Lists lists, Bounds bounds, float top0, float top1,
                                                        float am1, float unit) {
  constexpr int kSteps = 4;
  bounds.tighten_by_lists(am1, unit, {top0, top1}, kSteps, lists);
  lists.filter({bounds.bound[0] / unit, bounds.bound[1] / unit});
  lists.share_out();
  return {lists, bounds};
}

}  // namespace fenchel::cuda::device
