#pragma once

#include "backend/cuda/device/dot_product/passes.cuh"
#include "backend/cuda/dot_product/transposed.cuh"
#include "backend/entmax/terms.hpp"

/// Gradients of the blocks of queries that have no lists: scores and weights are computed again, tile by
/// tile.
namespace fenchel::cuda::device {

/// What is left of a query after the forward pass; one without keys, or beyond the last, has weights of 0
/// everywhere.
struct QueryState {
  float top, peak, mean;

  __device__ static QueryState of(const Rows<float>& normalizers, index_t row, bool there) {
    if (!there || normalizers.row(row)[0] == -__builtin_huge_valf()) return {0, 1, 0};
    return {normalizers.row(row)[0], normalizers.row(row)[1], 0};
  }
};

template <class T, int kD, int kE>
struct DenseGradients {
  static constexpr int kQueriesShared = TileStream<T, kD>::kBytes + TileStream<T, kE>::kBytes;
  static constexpr int kKeysShared =
      2 * (Tile<kD>::kBytes + Tile<kE>::kBytes + kTileRows * static_cast<int>(sizeof(QueryState)));
};

/// The gradients in the queries, with kSlopes in alpha and scale too, and the means that the keys need.
template <class T, int kD, int kE, bool kSlopes>
__global__ void __launch_bounds__(kThreads, 1)
    gradients_in_dense_queries(const __grid_constant__ DotProducts<T> x,
                               const __grid_constant__ TileMap key_map,
                               const __grid_constant__ TileMap value_map, const Rows<float> normalizers,
                               const SupportRows support, const Matrices<const T> cotangent,
                               const DotProductGradients<T, float> gradient, float* means) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Place at = place_of_block(x);
  if (!support.is_dense(at.first_row)) return;
  const index_t n = x.query.rows;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const index_t first_query = at.first + warp * kWarpRows;
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto am1 = static_cast<float>(x.alpha[at.h] - 1);
  const Scores<T> scores(x, at.b, at.h, first_query);
  const BlockKeys range = BlockKeys::of(x, at, first_query);

  LeftOperand query[kD / 16], upstream[kE / 16];
  load_block_rows<T, kD>(query, base, x.query.row(at.b, at.h, 0), x.query.row_stride, n,
                         static_cast<int>(x.query.cols), at.first);
  load_block_rows<T, kE>(upstream, base, cotangent.row(at.b, at.h, 0), cotangent.row_stride, n,
                         static_cast<int>(cotangent.cols), at.first);
  TileStream<T, kD> keys(base, key_map, x.key, at.b, at.g, range.order);
  TileStream<T, kE> values(base + TileStream<T, kD>::kBytes, value_map, x.value, at.b, at.g, range.order);
  __syncthreads();
  QueryState state[2];
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t i = first_query + lane / 4 + 8 * slot;
    state[slot] = QueryState::of(normalizers, at.first_row + (i - at.first), i < n);
  }

  TileSums sums[kD / 8] = {};
  double along_alpha[2] = {0, 0}, along_scale[2] = {0, 0};
  with_power(am1, [&](auto power) {
    using Weights = RowWeights<decltype(power)::value>;
    const Weights weights[2] = {Weights::of_peak(am1, state[0].peak), Weights::of_peak(am1, state[1].peak)};
    TileSums z[kTileRows / 8], dp[kTileRows / 8];
    const auto product = [&](Tile<kD> key_rows, Tile<kE> value_rows) {
      multiply_by_tile<T, kD>(z, query, key_rows);
      multiply_by_tile<T, kE>(dp, upstream, value_rows);
    };
    double mass[2] = {0, 0}, moment[2] = {0, 0};
    for_each_tile_of_both(keys, values, range, product, [&](Tile<kD>, Tile<kE>, int first_key) {
      scores.finish(z, first_key);
#pragma unroll
      for (int slot = 0; slot < 2; ++slot) {
        float u_sum = 0, u_moment = 0;
#pragma unroll
        for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
          for (int e = 2 * slot; e < 2 * slot + 2; ++e) {
            const float u = weights[slot](fmaf(scores.unit, z[j][e], -state[slot].top)).escort;
            u_sum += u;
            u_moment = fmaf(u, dp[j][e], u_moment);
          }
        }
        mass[slot] += u_sum;
        moment[slot] += u_moment;
      }
    });
#pragma unroll
    for (int slot = 0; slot < 2; ++slot) {
#pragma unroll
      for (int distance = 1; distance < 4; distance *= 2) {
        mass[slot] += __shfl_xor_sync(kAllLanes, mass[slot], distance);
        moment[slot] += __shfl_xor_sync(kAllLanes, moment[slot], distance);
      }
      state[slot].mean = mass[slot] > 0 ? static_cast<float>(moment[slot] / mass[slot]) : 0.0f;
    }
    for_each_tile_of_both(keys, values, range, product, [&](Tile<kD> key_rows, Tile<kE>, int first_key) {
      const LaneScores<kTileRows / 8> products = lane_scores(z);
      scores.finish(z, first_key);
#pragma unroll
      for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
        for (int e = 0; e < 4; ++e) {
          const WeightTerms terms = weights[e / 2](fmaf(scores.unit, z[j][e], -state[e / 2].top));
          const float slope = terms.escort == 0 ? 0.0f : terms.escort * (dp[j][e] - state[e / 2].mean);
          if constexpr (kSlopes) {
            along_alpha[e / 2] -= slope * detail::alpha_direction(x.alpha[at.h], terms.p);
            along_scale[e / 2] += slope * products.z[j][e];
          }
          dp[j][e] = slope;
        }
      }
      multiply_by_columns<T, kD>(sums, dp, key_rows, 0);
    });
  });
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t i = first_query + lane / 4 + 8 * slot, row = at.first_row + (i - at.first);
    const auto alpha_slope = quad_sum(static_cast<float>(along_alpha[slot]));
    const auto scale_slope = quad_sum(static_cast<float>(along_scale[slot]));
    if (i >= n) continue;
    const float top = normalizers.row(row)[0], peak = normalizers.row(row)[1];
    const float poison = top < __builtin_huge_valf() && (peak == peak || top == -__builtin_huge_valf())
                             ? 1.0f
                             : __int_as_float(0x7fffffff);
    if (lane % 4 == 0) {
      means[row] = state[slot].mean;
      if (gradient.alpha.data != nullptr) *gradient.alpha.row(row) = alpha_slope * poison;
      if (gradient.scale.data != nullptr) *gradient.scale.row(row) = scale_slope * poison;
    }
    if (gradient.query.data == nullptr) continue;
    const float factor = scores.scale * poison;
#pragma unroll
    for (int j = 0; j < kD / 8; ++j) {
      const int column = 8 * j + 2 * (lane % 4);
      if (column >= x.query.cols) continue;
      *reinterpret_cast<unsigned*>(gradient.query.row(at.b, at.h, i) + column) =
          pair_of<T>(factor * sums[j][2 * slot], factor * sums[j][2 * slot + 1]);
    }
  }
}

/// Scores out of products, where rows are keys and columns queries: -inf where there is none. Not inlined:
/// few tiles need it.
template <class T, int kCount>
[[nodiscard]] __device__ __noinline__ LaneScores<kCount> scores_of_keys(const Scores<T>& scores,
                                                                        LaneScores<kCount> z, int first_key,
                                                                        int first_query) {
  const int lane = threadIdx.x % kWarp;
  for (int j = 0; j < kCount; ++j) {
    for (int e = 0; e < 4; ++e) {
      const int i = first_query + 8 * j + 2 * (lane % 4) + e % 2, k = first_key + lane / 4 + 8 * (e / 2);
      const bool seen = i < scores.x.query.rows && sees(keys_of(scores.x, scores.b, i), scores.x.sinks, k);
      z.z[j][e] = seen ? scores.with_tensors(scores.scale * z.z[j][e], i, k) : -__builtin_huge_valf();
    }
  }
  return z;
}

/// Whether one of the queries from `begin` to `last` may see one of the keys [first, end).
template <class T>
__device__ inline bool may_see(const DotProducts<T>& x, index_t b, index_t begin, index_t last, index_t first,
                               index_t end) {
  const KeyRange keys = keys_of(x, b, begin);
  if (keys_of(x, b, last).last <= first) return false;
  return keys.first < end || (keys.origin < end && keys.origin + x.sinks > first);
}

/// What dense queries give to the gradients of a block of keys, in float, and whether there are any.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads, 1)
    gradients_of_dense_queries_in_keys(const __grid_constant__ DotProducts<T> x,
                                       const Rows<float> normalizers, const SupportRows support,
                                       const Matrices<const T> cotangent, const Transposed lists) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const index_t n = x.query.rows, m = x.key.rows, blocks = lists.key_blocks();
  const index_t head = blockIdx.x / blocks, first = blockIdx.x % blocks * kBlockRows;
  const index_t b = head / x.key.heads, g = head % x.key.heads, sharing = x.query.heads / x.key.heads;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const index_t first_key = first + warp * kWarpRows;
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  auto* const states = reinterpret_cast<QueryState*>(shared + 2 * Tile<kD>::kBytes + 2 * Tile<kE>::kBytes);
  const auto queries = [&](int stage) { return Tile<kD>{base + stage * Tile<kD>::kBytes}; };
  const auto upstream = [&](int stage) {
    return Tile<kE>{base + 2 * Tile<kD>::kBytes + stage * Tile<kE>::kBytes};
  };
  LeftOperand key[kD / 16], value[kE / 16];
  TileSums to_key[kD / 8] = {}, to_value[kE / 8] = {};
  bool some = false;
  for (index_t h = g * sharing; h < (g + 1) * sharing; ++h)
    some = some || support.least_count<kBlockRows>((b * x.query.heads + h) * n, n) < 0;
  const index_t end_head = __syncthreads_or(some) ? (g + 1) * sharing : 0;
  struct Queries {
    index_t h, first;
  };
  // The first tile of dense queries that see the keys, from one on; at end_head there is none.
  const auto dense_from = [&](Queries q) {
    for (; q.h < end_head; ++q.h, q.first = 0) {
      while (q.first < n) {
        const index_t block = q.first / kBlockRows * kBlockRows, end = block + kBlockRows;
        if (support.is_dense((b * x.query.heads + q.h) * n + block) &&
            may_see(x, b, block, min(end, n) - 1, first, first + kBlockRows)) {
          return q;
        }
        q.first = end;
      }
    }
    return q;
  };
  const auto begin_copies = [&](const Queries& q, int stage) {
    if (q.h < end_head) {
      TileCopier<T, kD>(x.query.row(b, q.h, 0), x.query.row_stride, n, static_cast<int>(x.query.cols))
          .begin(queries(stage), static_cast<int>(q.first));
      TileCopier<T, kE>(cotangent.row(b, q.h, 0), cotangent.row_stride, n, static_cast<int>(cotangent.cols))
          .begin(upstream(stage), static_cast<int>(q.first));
      if (threadIdx.x < kTileRows) {
        const index_t i = q.first + threadIdx.x, row = (b * x.query.heads + q.h) * n + i;
        QueryState state = QueryState::of(normalizers, row, i < n);
        if (i < n) state.mean = lists.means[row];
        // The level of the weights, in place of the largest one.
        const auto am1 = static_cast<float>(x.alpha[q.h] - 1);
        with_power(am1, [&](auto power) {
          state.peak = RowWeights<decltype(power)::value>::of_peak(am1, state.peak).level;
        });
        states[stage * kTileRows + threadIdx.x] = state;
      }
    }
    end_copies();
  };
  Queries now = dense_from({g * sharing, 0});
  const bool any = now.h < end_head;
  if (any) {
    load_block_rows<T, kD>(key, base, x.key.row(b, g, 0), x.key.row_stride, m, static_cast<int>(x.key.cols),
                           first);
    load_block_rows<T, kE>(value, base, x.value.row(b, g, 0), x.value.row_stride, m,
                           static_cast<int>(x.value.cols), first);
  }
  begin_copies(now, 0);
  for (int stage = 0; now.h < end_head; stage = 1 - stage) {
    const Queries next = dense_from({now.h, now.first + kTileRows});
    begin_copies(next, 1 - stage);
    wait_for_copies<1>();
    show_to_engines();
    __syncthreads();
    const auto am1 = static_cast<float>(x.alpha[now.h] - 1);
    const Scores<T> scores(x, b, now.h, 0);
    // Keys and queries beyond the last are zeros.
    const bool all_seen = scores.are_products &&
                          keys_of(x, b, now.first).last >= min(m, first + kBlockRows) &&
                          keys_of(x, b, min(n, now.first + kTileRows) - 1).first <= first;
    const float unit = all_seen ? scores.scale : 1.0f;
    with_power(am1, [&](auto power) {
      using Weights = RowWeights<decltype(power)::value>;
      // More than a part at a time do not fit into the registers with more columns.
      constexpr int kParts = kD + kE == 128 ? 1 : 2, kCount = kTileRows / 8 / kParts;
#pragma unroll
      for (int part = 0; part < kParts; ++part) {
        const int first_row = part * 8 * kCount;
        TileSums z[kCount], dp[kCount];
        if constexpr (kParts == 1) {
          multiply_by_tile<T, kD>(z, key, queries(stage));
          multiply_by_tile<T, kE>(dp, value, upstream(stage));
        } else {
          multiply_by_rows<T, kD>(z, key, queries(stage), first_row);
          multiply_by_rows<T, kE>(dp, value, upstream(stage), first_row);
        }
        if (!all_seen) {
          const LaneScores<kCount> seen = scores_of_keys(scores, lane_scores(z), static_cast<int>(first_key),
                                                         static_cast<int>(now.first) + first_row);
          memcpy(&z, &seen, sizeof seen);
        }
#pragma unroll
        for (int j = 0; j < kCount; ++j) {
#pragma unroll
          for (int e = 0; e < 4; ++e) {
            const QueryState state = states[stage * kTileRows + first_row + 8 * j + 2 * (lane % 4) + e % 2];
            const WeightTerms terms = Weights{am1, state.peak}(fmaf(unit, z[j][e], -state.top));
            z[j][e] = terms.p;
            dp[j][e] = terms.escort == 0 ? 0.0f : terms.escort * (dp[j][e] - state.mean) * scores.scale;
          }
        }
        multiply_by_columns<T, kE>(to_value, z, upstream(stage), first_row);
        multiply_by_columns<T, kD>(to_key, dp, queries(stage), first_row);
      }
    });
    __syncthreads();
    now = next;
  }
  wait_for_copies<0>();
  if (threadIdx.x == 0) lists.dense[head * blocks + first / kBlockRows] = any;
  if (!any) return;
#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t k = first_key + lane / 4 + 8 * slot;
    if (k >= m) continue;
    const index_t at = head * m + k;
#pragma unroll
    for (int j = 0; j < kD / 8; ++j) {
      const index_t to = at * kD + 8 * j + 2 * (lane % 4);
      lists.dense_keys[to] = to_key[j][2 * slot];
      lists.dense_keys[to + 1] = to_key[j][2 * slot + 1];
    }
#pragma unroll
    for (int j = 0; j < kE / 8; ++j) {
      const index_t to = at * kE + 8 * j + 2 * (lane % 4);
      lists.dense_values[to] = to_value[j][2 * slot];
      lists.dense_values[to + 1] = to_value[j][2 * slot + 1];
    }
  }
}

}  // namespace fenchel::cuda::device
