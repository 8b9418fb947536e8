#pragma once

#include "backend/cuda/device/dot_product/dense.cuh"

namespace fenchel::cuda::device {

template <class T, int kD, int kE>
struct DenseRows {
  static constexpr int kShared = TileStream<T, kD>::kBytes + TileStream<T, kE>::kBytes;
};

/// The blocks of queries of which attention_of_sparse_rows left any: weights by passes over the keys, and
/// their product with the values by the matrix units.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads, kD == 64 && kE == 64 ? 2 : 1)
    attention_of_dense_rows(const __grid_constant__ DotProducts<T> x, const __grid_constant__ TileMap key_map,
                            const __grid_constant__ TileMap value_map, const Matrices<T> out,
                            const Rows<float> normalizers, const SupportRows support) {
  extern __shared__ __align__(1024) unsigned char shared[];
  const Place at = place_of_block(x);
  const index_t n = x.query.rows;
  const index_t rows = min(n - at.first, static_cast<index_t>(kBlockRows));
  if (!__syncthreads_or(support.least_count<kWarpRows>(at.first_row, rows) < 0)) return;
  const int lane = threadIdx.x % kWarp, warp = threadIdx.x / kWarp;
  const index_t first_query = at.first + warp * kWarpRows;
  const auto base = static_cast<unsigned>(__cvta_generic_to_shared(shared));
  const auto am1 = static_cast<float>(x.alpha[at.h] - 1);
  const Scores<T> scores(x, at.b, at.h, first_query);
  const BlockKeys range = BlockKeys::of(x, at, first_query);

  LeftOperand query[kD / 16];
  load_block_rows<T, kD>(query, base, x.query.row(at.b, at.h, 0), x.query.row_stride, n,
                         static_cast<int>(x.query.cols), at.first);
  TileStream<T, kD> keys(base, key_map, x.key, at.b, at.g, range.order);
  TileStream<T, kE> values(base + TileStream<T, kD>::kBytes, value_map, x.value, at.b, at.g, range.order);
  __syncthreads();
  const auto pass = [&](int first, int end, const auto& body) {
    keys.start(end - 1, first);
    for_each_tile<T, kD>(keys, query, scores, range, first, end, body);
  };

  Maxima maxima;
  pass(0, range.tiles, [&](const TileSums(&z)[kTileRows / 8], int) { maxima.add(z); });
  float top[2];
  maxima.tighten(am1, scores.unit, top, 6);
  TileSums sums[kE / 8] = {};
  float peak[2];
  with_power(am1, [&](auto power) {
    RowWeights<decltype(power)::value> weights[2];
    solve_dense(am1, scores.unit, maxima, top, range, weights, pass);
    peak[0] = weights[0].peak();
    peak[1] = weights[1].peak();
    TileSums z[kTileRows / 8];
    for_each_tile_of_both(
        keys, values, range,
        [&](Tile<kD> key_rows, Tile<kE>) { multiply_by_tile<T, kD>(z, query, key_rows); },
        [&](Tile<kD>, Tile<kE> value_rows, int first_key) {
          scores.finish(z, first_key);
#pragma unroll
          for (int j = 0; j < kTileRows / 8; ++j) {
#pragma unroll
            for (int e = 0; e < 4; ++e) z[j][e] = weights[e / 2](fmaf(scores.unit, z[j][e], -top[e / 2])).p;
          }
          multiply_by_columns<T, kE>(sums, z, value_rows, 0);
        });
  });

#pragma unroll
  for (int slot = 0; slot < 2; ++slot) {
    const index_t i = first_query + lane / 4 + 8 * slot, row = at.first_row + (i - at.first);
    if (i >= n) continue;
    const bool seen = top[slot] != -__builtin_huge_valf();
    const float poison = am1 >= 0 && top[slot] < __builtin_huge_valf() ? 0.0f : __int_as_float(0x7fffffff);
    if (lane % 4 == 0) {
      support.list(row).count = kNoList;
      normalizers.row(row)[0] = top[slot];
      normalizers.row(row)[1] = peak[slot] + poison;
    }
#pragma unroll
    for (int j = 0; j < kE / 8; ++j) {
      const int column = 8 * j + 2 * (lane % 4);
      if (column >= out.cols) continue;
      const unsigned pair =
          pair_of<T>(seen ? sums[j][2 * slot] + poison : 0.0f, seen ? sums[j][2 * slot + 1] + poison : 0.0f);
      *reinterpret_cast<unsigned*>(out.row(at.b, at.h, i) + column) = pair;
    }
  }
}

}  // namespace fenchel::cuda::device
