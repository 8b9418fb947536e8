#pragma once

#include "backend/cuda/dot_product/cached_scores.cuh"
#include "backend/cuda/dot_product/cached_thresholds.cuh"

/// Which pages of a cache cannot have weight, by the least and the largest number of each column of their
/// keys: the score of a key is at most sum_k max(q_k least_k, q_k largest_k). Scores of the pages with the
/// largest bounds give a threshold that that of all keys is not below, and pages whose bounds are below it
/// are not read.
namespace fenchel::cuda::device {

inline constexpr int kPageThreads = 256;

template <class T>
__device__ inline unsigned mapped(unsigned a, unsigned b, Pair<T> (*of)(Pair<T>, Pair<T>)) {
  Pair<T> x, y;
  memcpy(&x, &a, sizeof x);
  memcpy(&y, &b, sizeof y);
  const Pair<T> z = of(x, y);
  unsigned word;
  memcpy(&word, &z, sizeof word);
  return word;
}
/// Pairs of the larger and of the smaller numbers, NaN where one of them is.
template <class T>
__device__ inline unsigned larger_pair(unsigned a, unsigned b) {
  return mapped<T>(a, b, [](Pair<T> x, Pair<T> y) { return __hmax2_nan(x, y); });
}
template <class T>
__device__ inline unsigned smaller_pair(unsigned a, unsigned b) {
  return mapped<T>(a, b, [](Pair<T> x, Pair<T> y) { return __hmin2_nan(x, y); });
}
template <class Map>
__device__ inline uint4 each_word(const uint4& x, const uint4& y, const Map& map) {
  return {map(x.x, y.x), map(x.y, y.y), map(x.z, y.z), map(x.w, y.w)};
}

/// For each row of scores the bounds of all pages of its sequence. Sixteen pages are the rows of a product.
template <class T, int kD>
__global__ void __launch_bounds__(kWarp) bounds_of_pages(const __grid_constant__ CachedProblem<T> p) {
  // Products of either side round by less than this part of the sum of the magnitudes.
  constexpr float kRounding = 0x1p-12f;
  constexpr unsigned kNoSigns = 0x7fff7fffu, kSigns = 0x80008000u;
  constexpr int kPieces = KeyPair<T, kD>::kPieces;
  const CachedDotProducts<T>& x = p.x;
  const auto pages = static_cast<int>(x.pages.cols);
  const auto page_groups = static_cast<unsigned>((pages + kGroupKeys - 1) / kGroupKeys);
  const unsigned head = blockIdx.x / page_groups;
  const unsigned b = head / static_cast<unsigned>(x.key.heads), g = head % static_cast<unsigned>(x.key.heads);
  const int length = p.length(b), lane = threadIdx.x;
  const int first_page = static_cast<int>(blockIdx.x % page_groups) * kGroupKeys;
  const auto has = [&](int page) { return page * x.key.rows < length; };
  if (!has(first_page)) return;
  const T *least_rows[2], *largest_rows[2];
#pragma unroll
  for (int half = 0; half < 2; ++half) {
    const int page = first_page + lane / 4 + 8 * half, there = has(page) ? page : first_page;
    least_rows[half] = x.bounds.row(p.pages[b * pages + there], g, 0);
    largest_rows[half] = least_rows[half] + x.bounds.row_stride;
  }
  KeyPair<T, kD> least, largest;
  const auto cols = static_cast<int>(x.key.cols);
  least.load(least_rows, cols);
  largest.load(largest_rows, cols);

  const index_t sharing = p.sharing, first_row = head * sharing;
  for (index_t first = 0; first < sharing; first += kTileQueries) {
    // The query of the lane's column as right operand, with the sign of its scale.
    const index_t own = first + lane / 4;
    const index_t own_head = (first_row + own) / x.query.rows % x.query.heads;
    const bool there = own < sharing;
    const unsigned sign = there && x.scale[own_head] < 0 ? kSigns : 0;
    TileSums sums = {0, 0, 0, 0}, sizes = {0, 0, 0, 0};
#pragma unroll
    for (int c = 0; c < kPieces; ++c) {
      const int column = 32 * c + 8 * (lane % 4);
      uint4 q{0, 0, 0, 0};
      if (there && column < cols) {
        q = *reinterpret_cast<const uint4*>(x.query.row(b, own_head, own % x.query.rows) + column);
      }
      const uint4 signs{sign, sign, sign, sign}, none{0, 0, 0, 0},
          magnitude{kNoSigns, kNoSigns, kNoSigns, kNoSigns};
      const auto without_sign = [](unsigned a, unsigned mask) { return a & mask; };
      q = each_word(q, signs, [](unsigned a, unsigned s) { return a ^ s; });
      const uint4 up = each_word(q, none, larger_pair<T>), down = each_word(q, none, smaller_pair<T>);
      const uint4 size = each_word(q, magnitude, without_sign);
      uint4 key_size[2];
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        key_size[half] =
            each_word(each_word(least.words[half][c], magnitude, without_sign),
                      each_word(largest.words[half][c], magnitude, without_sign), larger_pair<T>);
      }
      const auto multiply = [](TileSums& to, const uint4(&rows)[2], const uint4& right) {
        multiply_add<T>(to, LeftOperand{rows[0].x, rows[1].x, rows[0].y, rows[1].y}, right.x, right.y);
        multiply_add<T>(to, LeftOperand{rows[0].z, rows[1].z, rows[0].w, rows[1].w}, right.z, right.w);
      };
      const uint4 tops[2] = {largest.words[0][c], largest.words[1][c]};
      const uint4 lows[2] = {least.words[0][c], least.words[1][c]};
      multiply(sums, tops, up);
      multiply(sums, lows, down);
      multiply(sizes, key_size, size);
    }
#pragma unroll
    for (int e = 0; e < 4; ++e) {
      const index_t s = first + 2 * (lane % 4) + e % 2;
      const int page = first_page + lane / 4 + 8 * (e / 2);
      if (s >= sharing || page >= pages) continue;
      const auto scale = static_cast<float>(fabs(x.scale[(first_row + s) / x.query.rows % x.query.heads]));
      p.page_bounds[(first_row + s) * pages + page] = scale * (sums[e] + kRounding * sizes[e]);
    }
  }
}

/// Of a row of scores.
template <class T>
struct RowPages {
  const float* bounds;
  PageState* states;
  int count;

  __device__ RowPages(const CachedProblem<T>& p, index_t row)
      : bounds(p.page_bounds + row * p.x.pages.cols),
        states(p.page_states + row / p.sharing * p.x.pages.cols),
        count(static_cast<int>((p.length(p.place(row).b) + p.x.key.rows - 1) / p.x.key.rows)) {}
};

/// Marks the pages with the largest bounds of each row. Several rows may mark a page, all in the same way.
template <class T>
__global__ void __launch_bounds__(kPageThreads)
    choose_first_pages(const __grid_constant__ CachedProblem<T> p) {
  constexpr int kShare = 16, kHalvings = 16;
  __shared__ float2 ranges[2 * kPageThreads / kWarp];
  __shared__ int counts[2 * kPageThreads / kWarp];
  const RowPages<T> pages(p, blockIdx.x);
  float2 range{__builtin_huge_valf(), -__builtin_huge_valf()};
  for (int k = threadIdx.x; k < pages.count; k += kPageThreads) {
    const float bound = pages.bounds[k];
    range = {fminf(range.x, bound), fmaxf(range.y, bound)};
  }
  struct Range {
    float2 ends;
    __device__ Range shuffled(int distance) const {
      return {{__shfl_xor_sync(kAllLanes, ends.x, distance), __shfl_xor_sync(kAllLanes, ends.y, distance)}};
    }
  };
  const auto widest = [](const Range& a, const Range& b) {
    return Range{{fminf(a.ends.x, b.ends.x), fmaxf(a.ends.y, b.ends.y)}};
  };
  range = block_reduce<kPageThreads>(Range{range}, widest, reinterpret_cast<Range*>(ranges), 0).ends;
  for (int turn = 0; turn < kHalvings; ++turn) {
    const float middle = 0.5f * range.x + 0.5f * range.y;
    int above = 0;
    for (int k = threadIdx.x; k < pages.count; k += kPageThreads) above += !(pages.bounds[k] < middle);
    above = block_reduce<kPageThreads>(above, Plus(), counts, turn);
    (above * kShare > pages.count ? range.x : range.y) = middle;
  }
  for (int k = threadIdx.x; k < pages.count; k += kPageThreads) {
    if (!(pages.bounds[k] < range.y)) pages.states[k] = PageState::kFirst;
  }
}

/// Marks the other pages whose bound is not below the threshold of those that were chosen first.
template <class T>
__global__ void __launch_bounds__(kPageThreads)
    choose_second_pages(const __grid_constant__ CachedProblem<T> p) {
  extern __shared__ __align__(16) unsigned char shared[];
  const unsigned row = blockIdx.x;
  const auto am1 = static_cast<float>(p.x.alpha[p.place(row).h] - 1);
  CachedRow<T, kPageThreads> scores(p, row, shared, 0);
  // Less the largest score; where there is no number yet nothing is skipped.
  float least = __int_as_float(0x7fffffff);
  if (am1 >= 0 && scores.top() > -__builtin_huge_valf() && scores.top() < __builtin_huge_valf()) {
    with_power(am1, [&](auto power) {
      least = (1 + kThresholdSlack) *
              weights_of_bound(scores, RowWeights<decltype(power)::value>::largest(am1)).threshold();
    });
  }
  const RowPages<T> pages(p, row);
  for (int k = threadIdx.x; k < pages.count; k += kPageThreads) {
    if (pages.states[k] == PageState::kFirst || pages.bounds[k] - scores.top() < least) continue;
    pages.states[k] = PageState::kSecond;
  }
}

}  // namespace fenchel::cuda::device
