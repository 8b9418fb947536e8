#pragma once

#include "backend/cuda/device/dot_product/lists.cuh"
#include "backend/cuda/device/dot_product/passes.cuh"

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
template <class Key>
__device__ inline void solve_lists(CandidateLists<Key>& lists, const Maxima& maxima, const float (&top)[2],
                                   float am1, float (&peak)[2]) {
  constexpr int kMostSteps = 24;
  constexpr float kEnough = 1e-7f;  // of the level
  with_power(am1, [&](auto power) {
    using Weights = RowWeights<decltype(power)::value>;
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const auto sums = [&](const Weights& weights) {
        WeightTerms sum{0, 0};
        for (int e = 0; e < lists.count[slot]; ++e) {
          const WeightTerms terms = weights(lists.scores[lists.place(slot, e)] - top[slot]);
          sum.p += terms.p;
          sum.escort += terms.escort;
        }
        return WeightTerms{quad_sum(sum.p), quad_sum(sum.escort)};
      };
      Weights weights = maxima.weights_at_bound<decltype(power)::value>(slot, am1, top[slot]);
      if constexpr (Weights::kAny) {
        if (am1 > 1) {
          const float count = quad_sum(static_cast<float>(lists.count[slot]));
          weights = bisected(am1, count, [&](const Weights& w) { return sums(w).p; });
        }
      }
      for (int s = 0; s < kMostSteps && am1 <= 1; ++s) {
        const WeightTerms sum = sums(weights);
        const float before = weights.level;
        weights.step(sum.p, sum.escort);
        if (!__any_sync(kAllLanes, fabsf(weights.level - before) > kEnough * fabsf(before))) break;
      }
      peak[slot] = weights.peak();
      lists.keep_above(slot, 0, [&](float score) { return weights(score - top[slot]).p; });
    }
  });
}

/// sum_j p_j value_j of a query of the warp. Eight lanes read a row of values, 16 bytes at a time, and the
/// four groups of eight have the lists of the four lanes of the query.
template <class T, int kE, class Key>
__device__ inline void gather_values(const CandidateLists<Key>& lists, const T* values, index_t stride,
                                     int cols, int row, float (&sums)[kE / 64][8]) {
  const int lane = threadIdx.x % kWarp, group = lane / 8, piece = lane % 8;
  const int slot = row / 8, owner = 4 * (row % 8) + group;
  const int count = __shfl_sync(kAllLanes, slot == 0 ? lists.count[0] : lists.count[1], owner);
#pragma unroll
  for (int c = 0; c < kE / 64; ++c) {
#pragma unroll
    for (int e = 0; e < 8; ++e) sums[c][e] = 0;
  }
  constexpr int kTogether = 4;
  for (int first = 0; first < count; first += kTogether) {
    uint4 words[kTogether][kE / 64];
    float p[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      const bool there = first + k < count;
      const int at = lists.place(slot, there ? first + k : 0) + owner - lane;
      const index_t key = there ? lists.keys[at] : 0;
      p[k] = there ? lists.scores[at] : 0;
#pragma unroll
      for (int c = 0; c < kE / 64; ++c) {
        const int column = 64 * c + 8 * piece;
        words[k][c] = there && column < cols ? *reinterpret_cast<const uint4*>(values + key * stride + column)
                                             : uint4{0, 0, 0, 0};
      }
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
#pragma unroll
      for (int c = 0; c < kE / 64; ++c) {
        const Numbers<T> numbers = unpacked<T>(words[k][c]);
#pragma unroll
        for (int e = 0; e < 8; ++e) sums[c][e] = fmaf(p[k], numbers.values[e], sums[c][e]);
      }
    }
  }
#pragma unroll
  for (int c = 0; c < kE / 64; ++c) {
#pragma unroll
    for (int e = 0; e < 8; ++e) {
      sums[c][e] += __shfl_xor_sync(kAllLanes, sums[c][e], 8);
      sums[c][e] += __shfl_xor_sync(kAllLanes, sums[c][e], 16);
    }
  }
}

template <class T, int kD, class Key>
struct SparseRows {
  using Keys = TileStream<T, kD>;
  static constexpr int kShared = Keys::kBytes + CandidateLists<Key>::kBytes;
  static_assert(Keys::kTiles >= kBlockRows * kD * 2, "the queries come first, in the memory of the keys");
};

/// out, the largest score and weight, and the support of each query, of all blocks of queries whose lists
/// suffice; the others get kNoList.
template <class T, int kD, int kE, class Key>
__global__ void __launch_bounds__(kThreads, kD == 64 && kE == 64 ? 2 : 1)
    attention_of_sparse_rows(const DotProducts<T> x, const Matrices<T> out, const Rows<float> normalizers,
                             const SupportRows support) {
  extern __shared__ __align__(128) unsigned char shared[];
  __shared__ int stop;
  using Keys = typename SparseRows<T, kD, Key>::Keys;
  const Place at = place_of_block(x);
  const index_t n = x.query.rows;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const index_t first_query = at.first + warp * kWarpRows;
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto am1 = static_cast<float>(x.alpha[at.h] - 1);
  const Scores<T> scores(x, at.b, at.h, first_query);

  if (threadIdx.x == 0) stop = !(am1 >= 0);
  LeftOperand query[kD / 16];
  load_block_rows<T, kD>(query, base, x.query.row(at.b, at.h, 0), x.query.row_stride, n,
                         static_cast<int>(x.query.cols), at.first);
  Keys stream(base, x.key.row(at.b, at.g, 0), x.key.row_stride, x.key.rows, static_cast<int>(x.key.cols));
  __syncthreads();
  const KeyRange range = KeyRange::of(x, at, first_query);
  Maxima maxima;
  for_each_part<T, kD>(stream, query, scores, range.warp_keys, 0, range.tiles,
                       [&](const TileSums(&z)[4], int part, int) { maxima.add(z, part); });
  const float top[2] = {maxima.top(0), maxima.top(1)};
  maxima.tighten(am1, top, 6);

  CandidateLists<Key> lists(shared + Keys::kBytes);
  const auto select = [&](const TileSums(&z)[4], int, int first_key) {
    if (lists.nearly_full()) {
      const ListsAndBounds<Key> made =
          with_room(ListsAndBounds<Key>{lists, maxima, false}, am1, top[0], top[1]);
      lists = made.lists;
      maxima = made.maxima;
      if (!made.has_room) {
        stop = 1;
        return;
      }
    }
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const float bound = maxima.bound[slot];
#pragma unroll
      for (int j = 0; j < 4; j += 2) {
        const float highest = fmaxf(fmaxf(z[j][2 * slot], z[j][2 * slot + 1]),
                                    fmaxf(z[j + 1][2 * slot], z[j + 1][2 * slot + 1]));
        if (!(highest > bound)) continue;
#pragma unroll
        for (int k = j; k < j + 2; ++k) {
#pragma unroll
          for (int e = 0; e < 2; ++e) {
            if (z[k][2 * slot + e] > bound) {
              lists.push(slot, z[k][2 * slot + e], first_key + 8 * k + 2 * (lane % 4) + e);
            }
          }
        }
      }
    }
  };
  for_each_part<T, kD>(stream, query, scores, range.warp_keys, 0, range.tiles, select, &stop);

  float peak[2];
  int total[2], before[2];
  bool full = *const_cast<volatile int*>(&stop) != 0;
  if (!full) {
    solve_lists(lists, maxima, top, am1, peak);
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
      const int count = lists.count[slot], t = lane % 4;
      const int pair = count + __shfl_xor_sync(kAllLanes, count, 1);
      const int other = __shfl_xor_sync(kAllLanes, pair, 2);
      total[slot] = pair + other;
      before[slot] = (t & 1 ? pair - count : 0) + (t & 2 ? other : 0);
      full = full || total[slot] > SupportRows::kCapacity;
    }
  }
  full = __syncthreads_or(full);
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t i = first_query + lane / 4 + 8 * slot, row = at.first_row + (i - at.first);
    if (i >= n) continue;
    if (lane % 4 == 0) support.count(row) = full ? kNoList : total[slot];
    if (full) continue;
    if (lane % 4 == 0) {
      normalizers.row(row)[0] = top[slot];
      normalizers.row(row)[1] = peak[slot];
    }
    for (int e = 0; e < lists.count[slot]; ++e) {
      const int place = lists.place(slot, e);
      support.entries(row)[before[slot] + e] = {static_cast<std::int32_t>(lists.keys[place]),
                                                lists.scores[place]};
    }
  }
  if (full) return;
  __syncwarp();
  const T* const values = x.value.row(at.b, at.g, 0);
  for (int row = 0; row < kWarpRows; ++row) {
    const index_t i = first_query + row;
    if (i >= n) break;
    float sums[kE / 64][8];
    gather_values<T, kE>(lists, values, x.value.row_stride, static_cast<int>(x.value.cols), row, sums);
    const float highest = __shfl_sync(kAllLanes, row < 8 ? top[0] : top[1], 4 * (row % 8));
    const float poison = highest < __builtin_huge_valf() ? 0.0f : __int_as_float(0x7fffffff);
    if (lane >= 8) continue;
#pragma unroll
    for (int c = 0; c < kE / 64; ++c) {
      const int column = 64 * c + 8 * lane;
      if (column >= out.cols) continue;
#pragma unroll
      for (int e = 0; e < 8; ++e) sums[c][e] += poison;
      const Pack<T> pack = packed<T, 8>(sums[c]);
      *reinterpret_cast<uint4*>(out.row(at.b, at.h, i) + column) = words_of(pack);
    }
  }
}

}  // namespace fenchel::cuda::device
