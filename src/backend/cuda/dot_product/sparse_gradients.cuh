#pragma once

#include "backend/cuda/device/dot_product/row_pieces.cuh"
#include "backend/cuda/dot_product/transposed.cuh"
#include "backend/entmax/terms.hpp"

/// Gradients of rows whose support is in the record: with u = p^{2-alpha}, dp_j = <cotangent, value_j> and
/// its mean under u, that of the score j is u_j (dp_j - mean) [docs/math.md 2].
namespace fenchel::cuda::device {

/// p^{2-alpha}, of a weight.
__device__ inline float escort_of(float p, float am1) {
  return am1 == 1 ? 1.0f : am1 == 0.5f ? sqrtf(p) : powf(p, 1 - am1);
}

/// The gradients in the queries, in alpha and in scale, by a warp for each query; where `lists` is told to
/// keep them, the weights and those of the scores for the keys.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads)
    gradients_in_sparse_queries(const DotProducts<T> x, const Rows<float> normalizers,
                                const SupportRows support, const Matrices<const T> cotangent,
                                const DotProductGradients<T, float> gradient, const Transposed lists,
                                bool kept) {
  constexpr int kBlocks = kLongestList / kWarp;
  const unsigned row = blockIdx.x * kWarps + threadIdx.x / kWarp, n = static_cast<unsigned>(x.query.rows);
  if (row >= normalizers.rows) return;
  const SupportRows::List list = support.list(row);
  if (list.count == kNoList) return;
  const unsigned head = row / n, i = row % n, heads = static_cast<unsigned>(x.query.heads);
  const unsigned b = head / heads, h = head % heads, g = h / (heads / static_cast<unsigned>(x.key.heads));
  const auto am1 = static_cast<float>(x.alpha[h] - 1), scale = static_cast<float>(x.scale[h]);
  const int key_cols = static_cast<int>(x.key.cols), value_cols = static_cast<int>(x.value.cols);
  const T* const keys = x.key.row(b, g, 0);
  const T* const values = x.value.row(b, g, 0);

  RowPieces<T, kE> upstream;
  upstream.load(cotangent.row(b, h, i), value_cols);
  Entry own[kBlocks];
  float dp[kBlocks] = {};
  float centre = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const int left = list.count - block * kWarp;
    if (left <= 0) break;
    own[block] =
        own_entry() < left ? support.entry(row, list.first + block * kWarp + own_entry()) : Entry{0, 0};
    float products[kTurns] = {};
    for_each_turns(left, [&](int first) {
      RowWords<T, kE> value[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        value[t].load(values + in_turn(own[block].key, first + t) * x.value.row_stride, value_cols,
                      has_turn(left, first + t));
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) products[first + t] = upstream.own_product(value[t]);
    });
    dp[block] = sum_of_own_turn(products);
    centre += own[block].weight * dp[block];
  }
  // About their mean under p, so that the digits of a weight near one are not lost.
  centre = warp_reduce<kWarp>(centre, Plus());
  float mass = 0, moment = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    if (block * kWarp >= list.count) break;
    const float u = own[block].weight > 0 ? escort_of(own[block].weight, am1) : 0.0f;
    mass += u;
    moment += u * (dp[block] - centre);
  }
  const float mean = centre + warp_reduce<kWarp>(moment, Plus()) / warp_reduce<kWarp>(mass, Plus());
  RowPieces<T, kD> sum;
  sum.clear();
  double along = 0;
#pragma unroll
  for (int block = 0; block < kBlocks; ++block) {
    const int left = list.count - block * kWarp;
    if (left <= 0) break;
    const float p = own[block].weight, slope = p > 0 ? escort_of(p, am1) * (dp[block] - mean) : 0.0f;
    if (own_entry() < left) {
      if (kept) {
        lists.keep(row, list.first + block * kWarp + own_entry(), own[block], slope * scale);
      }
      if (gradient.alpha.data != nullptr) along -= slope * detail::alpha_direction(x.alpha[h], p);
    }
    for_each_turns(left, [&](int first) {
      RowWords<T, kD> key[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        key[t].load(keys + in_turn(own[block].key, first + t) * x.key.row_stride, key_cols,
                    has_turn(left, first + t));
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) sum.add(in_turn(slope, first + t), key[t]);
    });
  }
  sum.over_groups();
  const float top = normalizers.row(row)[0];
  const float poison = top < __builtin_huge_valf() ? 1.0f : __int_as_float(0x7fffffff);
  if (gradient.query.data != nullptr) sum.store(gradient.query.row(b, h, i), key_cols, scale * poison);
  if (gradient.alpha.data != nullptr) {
    const float total = warp_reduce<kWarp>(static_cast<float>(along), Plus());
    if (threadIdx.x % kWarp == 0) *gradient.alpha.row(row) = total * poison;
  }
  if (gradient.scale.data != nullptr) {
    RowWords<T, kD> query;
    query.load(x.query.row(b, h, i), key_cols, true);
    const float total = warp_reduce<8>(sum.own_product(query), Plus());
    if (threadIdx.x % kWarp == 0) *gradient.scale.row(row) = total * poison;
  }
}

/// The gradients in keys and values: a warp for each key, which goes through its queries in their order. What
/// dense rows add is there already.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads)
    gradients_in_keys(const DotProducts<T> x, const Matrices<const T> cotangent,
                      const DotProductGradients<T, float> gradient, const Transposed lists) {
  const unsigned at = blockIdx.x * kWarps + threadIdx.x / kWarp, m = static_cast<unsigned>(x.key.rows);
  if (at >= lists.heads * m) return;
  const unsigned head = at / m, k = at % m, heads = static_cast<unsigned>(x.key.heads);
  const unsigned b = head / heads, g = head % heads, n = static_cast<unsigned>(x.query.rows);
  const unsigned sharing = static_cast<unsigned>(x.query.heads) / heads;
  const int key_cols = static_cast<int>(x.key.cols), value_cols = static_cast<int>(x.value.cols);
  RowPieces<T, kD> to_key;
  RowPieces<T, kE> to_value;
  to_key.clear();
  to_value.clear();
  const KeyEntry* const entries = lists.of_head(head);
  const std::int32_t* const begin = lists.begin + head * (lists.keys + 1) + k;
  for (std::int32_t block = begin[0]; block < begin[1]; block += kWarp) {
    const int left = begin[1] - block;
    const KeyEntry own = own_entry() < left ? entries[block + own_entry()] : KeyEntry{0, 0, 0};
    for_each_turns(left, [&](int first) {
      RowWords<T, kD> query[kTogether];
      RowWords<T, kE> upstream[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        const bool there = has_turn(left, first + t);
        const auto row = static_cast<unsigned>(in_turn(own.row, first + t));
        const unsigned h = g * sharing + (sharing == 1 ? 0 : row / n), i = sharing == 1 ? row : row % n;
        query[t].load(x.query.row(b, h, i), key_cols, there);
        upstream[t].load(cotangent.row(b, h, i), value_cols, there);
      }
#pragma unroll
      for (int t = 0; t < kTogether; ++t) {
        to_key.add(in_turn(own.slope, first + t), query[t]);
        to_value.add(in_turn(own.weight, first + t), upstream[t]);
      }
    });
  }
  to_key.over_groups();
  to_value.over_groups();
  if (lists.dense[head * lists.key_blocks() + k / kBlockRows] != 0) {
    const int piece = threadIdx.x % 8;
#pragma unroll
    for (int c = 0; c < kD / 64; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e)
        to_key.values[c][e] += lists.dense_keys[static_cast<index_t>(at) * kD + 64 * c + 8 * piece + e];
    }
#pragma unroll
    for (int c = 0; c < kE / 64; ++c) {
#pragma unroll
      for (int e = 0; e < 8; ++e)
        to_value.values[c][e] += lists.dense_values[static_cast<index_t>(at) * kE + 64 * c + 8 * piece + e];
    }
  }
  if (gradient.key.data != nullptr) to_key.store(gradient.key.row(b, g, k), key_cols, 1);
  if (gradient.value.data != nullptr) to_value.store(gradient.value.row(b, g, k), value_cols, 1);
}

}  // namespace fenchel::cuda::device
