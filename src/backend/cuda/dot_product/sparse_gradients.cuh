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

/// The gradients in the queries, in alpha and in scale, by eight lanes for each query; where `lists` is told
/// to keep them, the weights and those of the scores for the keys.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads)
    gradients_in_sparse_queries(const __grid_constant__ DotProducts<T> x, const Rows<float> normalizers,
                                const SupportRows support, const Matrices<const T> cotangent,
                                const DotProductGradients<T, float> gradient, const Transposed lists,
                                bool kept) {
  __shared__ float products_of_groups[kThreads / kGroup][kLongestList];
  float* const products = products_of_groups[threadIdx.x / kGroup];
  const unsigned own_row = (blockIdx.x * kThreads + threadIdx.x) / kGroup,
                 n = static_cast<unsigned>(x.query.rows);
  const auto last_row = static_cast<unsigned>(normalizers.rows) - 1, row = min(own_row, last_row);
  SupportRows::List list = support.list(row);
  const bool there = own_row <= last_row && list.count != kNoList;
  if (!__any_sync(kAllLanes, there)) return;
  if (!there) list.count = 0;
  const unsigned head = row / n, i = row % n, heads = static_cast<unsigned>(x.query.heads);
  const unsigned b = head / heads, h = head % heads, g = h / (heads / static_cast<unsigned>(x.key.heads));
  const auto am1 = static_cast<float>(x.alpha[h] - 1), scale = static_cast<float>(x.scale[h]);
  const GroupEntries entries(support, row, list);

  RowPieces<T, kE> upstream;
  upstream.load(cotangent.row(b, h, i), static_cast<int>(x.value.cols));
  const LaneColumns<kE> value_columns(x.value.cols);
  const T* const values = x.value.row(b, g, 0);
  float centre = 0;
  entries.for_each([&](const Entry& own, int e) {
    float parts[kGroup] = {};
    entries.for_each_lanes(e, [&](int first) {
      RowWords<T, kE> value[kTogether];
#pragma unroll
      for (int t = 0; t < kTogether; ++t)
        value[t].load(values + of_lane(own.key, first + t) * x.value.row_stride, value_columns);
#pragma unroll
      for (int t = 0; t < kTogether; ++t) parts[first + t] = upstream.own_product(value[t]);
    });
    const float dp = sum_of_own(parts);
    if (!entries.has(e)) return;
    products[e] = dp;
    centre += own.weight * dp;
  });
  // About their mean under p, so that the digits of a weight near one are not lost.
  centre = warp_reduce<kGroup>(centre, Plus());
  float mass = 0, moment = 0;
  entries.for_each([&](const Entry& own, int e) {
    if (!(own.weight > 0)) return;
    const float u = escort_of(own.weight, am1);
    mass += u;
    moment += u * (products[e] - centre);
  });
  const float mean = centre + warp_reduce<kGroup>(moment, Plus()) / warp_reduce<kGroup>(mass, Plus());
  RowPieces<T, kD> sum;
  sum.clear();
  const LaneColumns<kD> key_columns(x.key.cols);
  double along = 0;
  entries.for_each([&](const Entry& own, int e) {
    const float slope = own.weight > 0 ? escort_of(own.weight, am1) * (products[e] - mean) : 0.0f;
    if (entries.has(e)) {
      if (kept) lists.keep(row, list.first + e, own, slope * scale);
      if (gradient.alpha.data != nullptr) along -= slope * detail::alpha_direction(x.alpha[h], own.weight);
    }
    entries.for_each_lanes(e, [&](int first) {
      add_rows(sum, x.key.row(b, g, 0), x.key.row_stride, key_columns, own.key, slope, first);
    });
  });
  if (list.count == 0) sum.clear();
  const float poison = normalizers.row(row)[0] < __builtin_huge_valf() ? 1.0f : __int_as_float(0x7fffffff);
  const float alpha_slope = warp_reduce<kGroup>(static_cast<float>(along), Plus());
  RowPieces<T, kD> query;
  query.load(x.query.row(b, h, i), static_cast<int>(x.query.cols));
  const float scale_slope = warp_reduce<kGroup>(sum.product(query), Plus());
  if (!there) return;
  if (gradient.query.data != nullptr) {
    sum.store(gradient.query.row(b, h, i), static_cast<int>(x.query.cols), scale * poison);
  }
  if (lane_of_group() != 0) return;
  if (gradient.alpha.data != nullptr) *gradient.alpha.row(row) = alpha_slope * poison;
  if (gradient.scale.data != nullptr) *gradient.scale.row(row) = scale_slope * poison;
}

/// What the queries of a list give to the gradients of its key and value, in their order; those of eight
/// entries at a time, the next ones `jump` further on.
template <class T, int kD, int kE>
struct KeyGradients {
  RowPieces<T, kD> key;
  RowPieces<T, kE> value;

  __device__ void add(const DotProducts<T>& x, const Matrices<const T>& cotangent, unsigned b, unsigned g,
                      const KeyEntry* entries, int begin, int end, int jump) {
    const LaneColumns<kD> key_columns(x.key.cols);
    const LaneColumns<kE> value_columns(x.value.cols);
    const auto n = static_cast<unsigned>(x.query.rows);
    const unsigned sharing = static_cast<unsigned>(x.query.heads) / static_cast<unsigned>(x.key.heads);
    key.clear();
    value.clear();
    for (int block = begin; __any_sync(kAllLanes, block < end); block += jump) {
      // Behind the end the last entry comes again, with weight 0.
      const int e = block + lane_of_group();
      KeyEntry own{0, 0, 0};
      if (begin < end) own = entries[min(e, end - 1)];
      if (e >= end) own.weight = own.slope = 0;
#pragma unroll
      for (int first = 0; first < kGroup; first += kTogether) {
        if (!__any_sync(kAllLanes, block + first < end)) break;
        RowWords<T, kD> query[kTogether];
        RowWords<T, kE> upstream[kTogether];
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          const auto row = static_cast<unsigned>(of_lane(own.row, first + t));
          const unsigned h = g * sharing + (sharing == 1 ? 0 : row / n), i = sharing == 1 ? row : row % n;
          query[t].load(x.query.row(b, h, i), key_columns);
          upstream[t].load(cotangent.row(b, h, i), value_columns);
        }
#pragma unroll
        for (int t = 0; t < kTogether; ++t) {
          key.add(of_lane(own.slope, first + t), query[t]);
          value.add(of_lane(own.weight, first + t), upstream[t]);
        }
      }
    }
    if (begin >= end) {
      key.clear();
      value.clear();
    }
  }
};

/// The gradients in keys and values: eight lanes for each key, or a warp for one after the other where a list
/// is long. What dense rows add is there already.
template <class T, int kD, int kE>
__global__ void __launch_bounds__(kThreads, kD == 64 ? 3 : 2)
    gradients_in_keys(const __grid_constant__ DotProducts<T> x, const Matrices<const T> cotangent,
                      const DotProductGradients<T, float> gradient, const Transposed lists) {
  constexpr int kLong = 256;
  const unsigned m = static_cast<unsigned>(x.key.rows), all = static_cast<unsigned>(lists.heads) * m;
  const unsigned first = (blockIdx.x * kThreads + threadIdx.x) / kWarp * kGroups;
  if (first >= all) return;
  const auto begin_of = [&](unsigned at) { return lists.begin + at / m * (lists.keys + 1) + at % m; };
  const auto store = [&](unsigned at, KeyGradients<T, kD, kE>& sums) {
    const unsigned head = at / m, k = at % m, heads = static_cast<unsigned>(x.key.heads);
    if (lists.dense[head * lists.key_blocks() + k / kBlockRows] != 0) {
      sums.key.add(lists.dense_keys + static_cast<index_t>(at) * kD);
      sums.value.add(lists.dense_values + static_cast<index_t>(at) * kE);
    }
    const unsigned b = head / heads, g = head % heads;
    if (gradient.key.data != nullptr) {
      sums.key.store(gradient.key.row(b, g, k), static_cast<int>(x.key.cols), 1);
    }
    if (gradient.value.data != nullptr) {
      sums.value.store(gradient.value.row(b, g, k), static_cast<int>(x.value.cols), 1);
    }
  };
  const auto add = [&](KeyGradients<T, kD, kE>& sums, unsigned at, int begin, int end, int jump) {
    const unsigned head = at / m, heads = static_cast<unsigned>(x.key.heads);
    sums.add(x, cotangent, head / heads, head % heads, lists.of_head(head), begin, end, jump);
  };
  KeyGradients<T, kD, kE> sums;
  const unsigned own = min(first + group_of_warp(), all - 1);
  const std::int32_t* const own_begin = begin_of(own);
  const int begin = own_begin[0], end = own_begin[1];
  if (!__any_sync(kAllLanes, end - begin > kLong)) {
    add(sums, own, begin, end, kGroup);
    if (first + group_of_warp() < all) store(own, sums);
    return;
  }
  for (unsigned at = first; at < min(first + kGroups, all); ++at) {
    const std::int32_t* const list = begin_of(at);
    add(sums, at, list[0] + kGroup * group_of_warp(), list[1], kWarp);
    sums.key.over_groups();
    sums.value.over_groups();
    if (group_of_warp() == 0) store(at, sums);
  }
}

}  // namespace fenchel::cuda::device
