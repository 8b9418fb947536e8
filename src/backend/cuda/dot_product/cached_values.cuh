#pragma once

#include "backend/cuda/device/dot_product/cache.cuh"
#include "backend/cuda/device/dot_product/problem.cuh"

/// The output of each row of scores of a cache: of the values those of keys with weight are read. A block
/// adds up those of a chunk of keys, the sums of the chunks are added in their order, and their mass divides
/// the whole: that it is one but for rounding is not asked of the threshold.
namespace fenchel::cuda::device {

inline constexpr int kKeysOfThread = 8;  ///< neighbours
inline constexpr int kValueThreads = kChunkKeys / kKeysOfThread, kOutputThreads = 1024;

/// The keys of a chunk that have weight, in their order: where their values are, and the weights; besides,
/// how many each warp has, and their mass.
struct ChunkSupport {
  index_t offsets[kChunkKeys];
  float weights[kChunkKeys];
  int counts[kValueThreads / kWarp];
  float masses[kValueThreads / kWarp];
};

/// How many they are, for all threads of the block.
template <class T>
__device__ inline int find_support(ChunkSupport& support, const CachedProblem<T>& p, index_t row,
                                   const RowPlace& of_row, int first_key) {
  const SolvedRow solved = p.rows[row];
  const auto am1 = static_cast<float>(p.x.alpha[of_row.h] - 1);
  const int key = first_key + kKeysOfThread * static_cast<int>(threadIdx.x);
  float weights[kKeysOfThread] = {}, mass = 0;
  int own = 0;
  with_power(am1, [&](auto power) {
    const RowWeights<decltype(power)::value> of{am1, solved.level};
    const bool open =
        key < p.length(of_row.b) &&
        p.largest[row * p.groups() + key / kGroupKeys] - solved.top > (1 + kThresholdSlack) * of.threshold();
    if (!open) return;
    const auto* const scores = reinterpret_cast<const float4*>(p.scores + row * p.columns() + key);
#pragma unroll
    for (int k = 0; k < kKeysOfThread; k += 4) {
      const float4 four = scores[k / 4];
      weights[k] = solved.weight(of, four.x - solved.top);
      weights[k + 1] = solved.weight(of, four.y - solved.top);
      weights[k + 2] = solved.weight(of, four.z - solved.top);
      weights[k + 3] = solved.weight(of, four.w - solved.top);
    }
#pragma unroll
    for (const float weight : weights) {
      own += weight > 0;
      mass += weight;
    }
  });
  mass = warp_reduce(mass, Plus());
  const Placed placed = placed_in_warp(own);
  if (threadIdx.x % kWarp == 0) {
    support.counts[threadIdx.x / kWarp] = placed.all;
    support.masses[threadIdx.x / kWarp] = mass;
  }
  __syncthreads();
  int total = 0, place = placed.before;
#pragma unroll
  for (int w = 0; w < kValueThreads / kWarp; ++w) {
    if (w < threadIdx.x / kWarp) place += support.counts[w];
    total += support.counts[w];
  }
#pragma unroll
  for (int k = 0; k < kKeysOfThread; ++k) {
    if (!(weights[k] > 0)) continue;
    support.offsets[place] = key + k;
    support.weights[place++] = weights[k];
  }
  __syncthreads();
  for (int k = threadIdx.x; k < total; k += kValueThreads) {
    support.offsets[k] = p.offset(p.x.value, of_row.b, static_cast<unsigned>(support.offsets[k]));
  }
  __syncthreads();
  return total;
}

/// The sum over each chunk of keys and row of scores, of kE columns.
template <class T, int kE>
__global__ void __launch_bounds__(kValueThreads) sums_of_chunks(const __grid_constant__ CachedProblem<T> p) {
  constexpr int kLanes = kE / 8, kSlots = kValueThreads / kLanes, kTogether = 8;
  __shared__ ChunkSupport support;
  __shared__ float sums[kValueThreads / kWarp][kE];
  wait_for_kernel_before();
  const auto chunks = static_cast<unsigned>(p.chunks());
  const unsigned row = blockIdx.x / chunks;
  const RowPlace of_row = p.place(row);
  const int first_key = static_cast<int>(blockIdx.x % chunks) * kChunkKeys;
  int total = 0;
  if (p.rows[row].kind == RowKind::kWeights && first_key < p.length(of_row.b)) {
    total = find_support(support, p, row, of_row, first_key);
  }
  if (threadIdx.x == 0) {
    float mass = 0;
    for (int w = 0; w < kValueThreads / kWarp && total > 0; ++w) mass += support.masses[w];
    p.masses[blockIdx.x] = mass;
  }
  if (total == 0) return;

  const unsigned g = of_row.h / p.group_heads;
  const int slot = threadIdx.x / kLanes, column = 8 * (threadIdx.x % kLanes);
  // Where a lane has no columns it reads the first ones, and does not use them.
  const T* const values = p.x.value.data + g * p.x.value.head_stride + (column < p.x.value.cols ? column : 0);
  float sum[8] = {};
  for (int first = slot; first < total; first += kSlots * kTogether) {
    uint4 words[kTogether];
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      words[k] =
          *reinterpret_cast<const uint4*>(values + support.offsets[min(first + k * kSlots, total - 1)]);
    }
#pragma unroll
    for (int k = 0; k < kTogether; ++k) {
      if (first + k * kSlots >= total) break;
      const float weight = support.weights[first + k * kSlots];
      const Numbers<T> numbers = unpacked<T>(words[k]);
#pragma unroll
      for (int e = 0; e < 8; ++e) sum[e] = fmaf(weight, numbers.values[e], sum[e]);
    }
  }
#pragma unroll
  for (int e = 0; e < 8; ++e) {
#pragma unroll
    for (int distance = kLanes; distance < kWarp; distance *= 2) {
      sum[e] += __shfl_xor_sync(kAllLanes, sum[e], distance);
    }
    if (threadIdx.x % kWarp < kLanes) sums[threadIdx.x / kWarp][column + e] = sum[e];
  }
  __syncthreads();
  for (int c = threadIdx.x; c < kE; c += kValueThreads) {
    float whole = 0;
#pragma unroll
    for (int w = 0; w < kValueThreads / kWarp; ++w) whole += sums[w][c];
    p.sums[static_cast<index_t>(blockIdx.x) * kE + c] = whole;
  }
}

/// The outputs: a block has 32 columns, and adds up every 32nd chunk in each of its warps.
template <class T, int kE>
__global__ void __launch_bounds__(kOutputThreads)
    outputs_of_cache(const __grid_constant__ CachedProblem<T> p, const Matrices<T> out) {
  constexpr int kSlices = kOutputThreads / kWarp;
  __shared__ float sums[kSlices][kWarp], masses[kSlices];
  wait_for_kernel_before();
  const index_t row = blockIdx.x, chunks = p.chunks();
  const int lane = threadIdx.x % kWarp, slice = threadIdx.x / kWarp;
  const int c = static_cast<int>(blockIdx.y) * kWarp + lane;
  const RowKind kind = p.rows[row].kind;
  float sum = 0, mass = 0;
  if (kind == RowKind::kWeights) {
#pragma unroll 8
    for (index_t k = slice; k < chunks; k += kSlices) {
      const index_t chunk = row * chunks + k;
      const float own = p.masses[chunk], part = p.sums[chunk * kE + c];  // of no mass is no sum
      mass += own;
      if (own > 0) sum += part;
    }
  }
  sums[slice][lane] = sum;
  if (lane == 0) masses[slice] = mass;
  __syncthreads();
  if (slice > 0 || c >= out.cols) return;
#pragma unroll
  for (int k = 1; k < kSlices; ++k) {
    sum += sums[k][lane];
    mass += masses[k];
  }
  if (kind == RowKind::kWeights) sum /= mass;
  if (kind == RowKind::kNaN) sum = __int_as_float(0x7fffffff);
  const RowPlace of_row = p.place(blockIdx.x);
  out.row(of_row.b, of_row.h, of_row.i)[c] = stored<T>(sum);
}

}  // namespace fenchel::cuda::device
