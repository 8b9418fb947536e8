#pragma once

#include "backend/cuda/device/dot_product/lists.cuh"
#include "backend/cuda/device/dot_product/passes.cuh"
#include "backend/cuda/device/dot_product/row_pieces.cuh"

/// Attention of rows whose support is short: one pass over the keys finds the candidates, the thresholds are
/// solved on these, and the values of the support are read.
namespace fenchel::cuda::device {

/// The largest weight of a row by bisection: past alpha = 2 the norm is not convex.
template <class Mass>
__device__ inline RowWeights<kAnyPower> bisected(float am1, float count, const Mass& mass) {
  constexpr int kHalvings = 30;
  RowWeights<kAnyPower> weights{am1, 0};
  float low = -logf(fmaxf(count, 1.0f)), high = 0;
  for (int k = 0; k < kHalvings; ++k) {
    weights.level = 0.5f * (low + high);
    (mass(weights) > 1 ? high : low) = weights.level;
  }
  return weights;
}

/// The weights of the candidates of both queries of a lane, in place of their scores, and the largest
/// weights.
template <class Lists>
__device__ inline void solve_lists(const Lists& lists, const Bounds& bounds, float unit,
                                   const float (&top)[2], float am1, float (&peak)[2]) {
  constexpr int kMostSteps = 24;
  constexpr float kEnough = 1e-7f;  // of the level
  with_power(am1, [&](auto power) {
    using Weights = RowWeights<decltype(power)::value>;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const auto terms_of = [&](const Weights& weights, float z) {
        return weights(fmaf(unit, z, -top[slot]));
      };
      const auto sums = [&](const Weights& weights) {
        WeightTerms sum{0, 0, 0};
        lists.for_each(slot, [&](unsigned at) {
          const float2 pair = lists.load(at);
          const WeightTerms low = terms_of(weights, pair.x), high = terms_of(weights, pair.y);
          sum.p += low.p + high.p;
          sum.escort += low.escort + high.escort;
          sum.curve += low.curve + high.curve;
        });
        return WeightTerms{quad_sum(sum.p), quad_sum(sum.escort), quad_sum(sum.curve)};
      };
      Weights weights = bounds.weights_at_bound<decltype(power)::value>(slot, am1, top[slot]);
      if constexpr (Weights::kAny) {
        if (am1 > 1) {
          const float count = quad_sum(2 * static_cast<float>(lists.count(slot)));
          weights = bisected(am1, count, [&](const Weights& w) { return sums(w).p; });
        }
      }
      for (int s = 0; s < kMostSteps && am1 <= 1; ++s) {
        const WeightTerms sum = sums(weights);
        const float before = weights.level;
        weights.step(sum);
        if (!__any_sync(kAllLanes, fabsf(weights.level - before) > kEnough * fabsf(before))) break;
      }
      peak[slot] = weights.peak();
      lists.for_each(slot, [&](unsigned at) {
        const float2 pair = lists.load(at);
        lists.store(at, {terms_of(weights, pair.x).p, terms_of(weights, pair.y).p});
      });
    }
  });
}

/// The lists of a warp's queries: how many entries both queries of a lane have, where in the room of the warp
/// they begin, and how many of them other lanes write before this one.
struct WarpLists {
  int total[2], first[2], before[2];
  int all;  ///< entries of the warp

  template <class Lists>
  __device__ explicit WarpLists(const Lists& lists) : all(0) {
    const int t = threadIdx.x % 4;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      int own = 0;
      lists.for_each(slot, [&](unsigned at) {
        const float2 pair = lists.load(at);
        own += (pair.x > 0) + (pair.y > 0);
      });
      const int two = own + __shfl_xor_sync(kAllLanes, own, 1);
      const int others = __shfl_xor_sync(kAllLanes, two, 2);
      total[slot] = two + others;
      before[slot] = (t & 1 ? two - own : 0) + (t & 2 ? others : 0);
      int up_to = total[slot];
#pragma unroll
      for (int distance = 4; distance < kWarp; distance *= 2) {
        const int lower = __shfl_up_sync(kAllLanes, up_to, distance);
        if (threadIdx.x % kWarp >= distance) up_to += lower;
      }
      first[slot] = all + up_to - total[slot];
      all += __shfl_sync(kAllLanes, up_to, kWarp - 1);
    }
  }
};

/// Two blocks share a multiprocessor; the few whose lists are too short for that have one each, and more than
/// twice as much room.
template <class T, int kD, class Key, bool kLonger>
struct SparseRows {
  using Keys = TileStream<T, kD, 2>;
  static constexpr int kBlocks = kLonger ? 1 : 2, kMemory = 227 * 1024 / kBlocks - (kBlocks - 1) * 512;
  using Lists = CandidateLists<Key, kMemory - Keys::kBytes>;
  static constexpr int kShared = Keys::kBytes + Lists::kBytes;
  static_assert(Keys::kTiles >= kBlockRows * kD * 2, "the queries come first, in the memory of the keys");
};

/// out, the largest score and weight, and the support of each query, of all warps whose lists suffice; the
/// queries of the others get kLongerList or kNoList. With kLonger, of the blocks of those with kLongerList.
template <class T, int kD, int kE, class Key, bool kLonger>
__global__ void __launch_bounds__(kThreads, SparseRows<T, kD, Key, kLonger>::kBlocks)
    attention_of_sparse_rows(const __grid_constant__ DotProducts<T> x,
                             const __grid_constant__ TileMap key_map, const Matrices<T> out,
                             const Rows<float> normalizers, const SupportRows support) {
  extern __shared__ __align__(1024) unsigned char shared[];
  using Keys = typename SparseRows<T, kD, Key, kLonger>::Keys;
  using Lists = typename SparseRows<T, kD, Key, kLonger>::Lists;
  const Place at = place_of_block(x);
  const index_t n = x.query.rows;
  if constexpr (kLonger) {
    const index_t rows = min(n - at.first, static_cast<index_t>(kBlockRows));
    const std::int32_t least = support.least_count<kWarpRows>(at.first_row, rows);
    if (!__syncthreads_or(least == kLongerList) || __syncthreads_or(least == kNoList)) return;
  }
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const index_t first_query = at.first + warp * kWarpRows;
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto am1 = static_cast<float>(x.alpha[at.h] - 1);
  const Scores<T> scores(x, at.b, at.h, first_query);

  LeftOperand query[kD / 16];
  load_block_rows<T, kD>(query, base, x.query.row(at.b, at.h, 0), x.query.row_stride, n,
                         static_cast<int>(x.query.cols), at.first);
  const BlockKeys range = BlockKeys::of(x, at, first_query);
  Keys stream(base, key_map, x.key, at.b, at.g, range.order);
  __syncthreads();

  Lists lists(base + Keys::kBytes);
  Maxima maxima;
  float top[2], least[2];
  const float per_unit = 1 / scores.unit;
  const auto tighten = [&](int steps) {
    maxima.tighten(am1, scores.unit, top, steps);
    least[0] = maxima.bound[0] * per_unit;
    least[1] = maxima.bound[1] * per_unit;
  };
  // Some tiles give the first bounds.
  constexpr int kMostFirst = 8, kShareFirst = 8, kFirstSteps = 6, kSteps = 2;
  int seen = min(max(range.tiles / kShareFirst, 1), kMostFirst);
  const int first_seen = min(range.common, range.tiles - seen);
  stream.start(first_seen + seen - 1, first_seen);
  for_each_tile<T, kD>(stream, query, scores, range, first_seen, first_seen + seen,
                       [&](const TileSums(&z)[kTileRows / 8], int) { maxima.add(z); });
  int steps = kFirstSteps;
  bool full = !(am1 >= 0), hopeless = kLonger || full;
  const auto select = [&](const TileSums(&z)[kTileRows / 8], int first_key) {
    const int key = first_key + 2 * (lane % 4);
    const auto push = [&](int k) {
      const auto key_there = static_cast<int>(sum_by_product(static_cast<unsigned>(key), 8u * k));
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        const float low = z[k][2 * slot], high = z[k][2 * slot + 1];
        lists.push_above(slot, least[slot], maxima.add(slot, k, low, high), low, high, key_there);
      }
    };
    // Mostly there is room for all that a tile can have, and one question is enough.
    if (!lists.nearly_full(kTileRows / lists.kKeysAtOnce * lists.kMostAtOnce)) {
#pragma unroll
      for (int k = 0; k < kTileRows / 8; ++k) push(k);
      return;
    }
#pragma unroll
    for (int j = 0; j < kTileRows / 8; j += lists.kKeysAtOnce / 8) {
      if (lists.nearly_full()) {
        if (full) return;
        const ListsAndBounds<Lists> made = with_room(lists, maxima, maxima.top(0, scores.unit),
                                                     maxima.top(1, scores.unit), am1, scores.unit);
        lists = made.lists;
        static_cast<Bounds&>(maxima) = made.bounds;
        full = lists.nearly_full();
        if (full) {
          // Supports grow with the number of keys, but much more slowly.
          const float longest = 4.0f * max(lists.count(0), lists.count(1));
          const float others = static_cast<float>(range.count()) / (range.to - first_key);
          hopeless = hopeless || longest * sqrtf(sqrtf(others)) > kLongestList;
          return;
        }
        least[0] = maxima.bound[0] * per_unit;
        least[1] = maxima.bound[1] * per_unit;
      }
#pragma unroll
      for (int k = j; k < j + lists.kKeysAtOnce / 8; ++k) push(k);
    }
  };
  // Then all come, and what is found among them draws the bounds nearer, each time that there are a third
  // more. Where a warp has no room, the whole block is computed again.
  stream.start(range.tiles - 1);
  for (int end = range.tiles;; steps = kSteps) {
    tighten(steps);
    // Of 32 maxima three quarters in the support of some keys: that of all is too long.
    if (end == range.tiles && range.count() > 4 * kLongestList && maxima.share_above(scores.unit) > 0.75f) {
      full = hopeless = true;
    }
    if (end == 0 || lists.nearly_full(Lists::kCapacity / 2)) lists.filter(least);
    if (end == 0 || __syncthreads_or(full)) break;
    seen += (seen + 2) / 3;
    const int first = max(range.tiles - seen, 0);
    for_each_tile<T, kD>(stream, query, scores, range, first, end, select);
    end = first;
  }
  stream.abandon();
  float peak[2] = {0, 0};
  if (!full) solve_lists(lists, maxima, scores.unit, top, am1, peak);
  const WarpLists found(lists);
  const index_t rows = min(n - first_query, static_cast<index_t>(kWarpRows));
  const bool too_long = __any_sync(kAllLanes, max(found.total[0], found.total[1]) > kLongestList) ||
                        found.all > rows * SupportRows::kCapacity;
  const std::int32_t none = __any_sync(kAllLanes, hopeless || (too_long && !full)) ? kNoList : kLongerList;
  full = full || too_long;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t i = first_query + lane / 4 + 8 * slot, row = at.first_row + (i - at.first);
    if (i >= n) continue;
    const int first = found.first[slot] - SupportRows::kCapacity * (lane / 4 + 8 * slot);
    if (lane % 4 == 0) support.list(row) = {full ? none : found.total[slot], first};
    if (full) continue;
    if (lane % 4 == 0) {
      normalizers.row(row)[0] = top[slot];
      normalizers.row(row)[1] = peak[slot];
    }
    int e = first + found.before[slot];
    lists.for_each(slot, [&](unsigned pair_at) {
      const float2 pair = lists.load(pair_at);
      const int key = lists.load_key(pair_at);
      if (pair.x > 0) support.entry(row, e++) = {key, pair.x};
      if (pair.y > 0) support.entry(row, e++) = {key + 1, pair.y};
    });
  }
  if (full) return;
  __syncwarp();
  const T* const values = x.value.row(at.b, at.g, 0);
  const LaneColumns<kE> columns(x.value.cols);
  constexpr int kTurns = kWarpRows / kGroups;
  const auto row_of = [](int turn) { return kGroups * turn + group_of_warp(); };
  const auto entries_of = [&](int turn) {
    const int row = row_of(turn), slot = turn / 2, slot_lane = 4 * (row % 8);
    const int total = __shfl_sync(kAllLanes, found.total[slot], slot_lane);
    const SupportRows::List list{row < rows ? total : 0,
                                 __shfl_sync(kAllLanes, found.first[slot], slot_lane)};
    return GroupEntries(support, at.first_row + (first_query - at.first), list);
  };
  const GroupEntries lists_of_turns[kTurns] = {entries_of(0), entries_of(1), entries_of(2), entries_of(3)};
#pragma unroll
  for (int turn = 0; turn < kTurns; ++turn) {
    const GroupEntries& entries = lists_of_turns[turn];
    const float highest = __shfl_sync(kAllLanes, top[turn / 2], 4 * (row_of(turn) % 8));
    RowPieces<T, kE> sums;
    sums.clear();
    entries.for_each([&](const Entry& own, int e) {
      entries.for_each_lanes(e, [&](int from) {
        add_rows(sums, values, x.value.row_stride, columns, own.key, own.weight, from);
      });
    });
    if (!entries.has(0)) sums.clear();
    const float poison = highest < __builtin_huge_valf() ? 1.0f : __int_as_float(0x7fffffff);
    if (row_of(turn) < rows) {
      sums.store(out.row(at.b, at.h, first_query + row_of(turn)), static_cast<int>(out.cols), poison);
    }
  }
}

}  // namespace fenchel::cuda::device
