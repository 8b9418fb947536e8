#pragma once

#include "backend/cuda/device/attention/line_rows.cuh"

/// Kernels that sum over pairs of densities and functions what is never stored, in one fixed order: contexts,
/// and gradients in what many densities share.
namespace fenchel::cuda::device {

inline constexpr int kTileRows = 16, kSumThreads = 256, kSumWarps = kSumThreads / kWarp;

/// Adds B r over a chunk of functions, whose r is in `tile`, to the contexts of `count` rows from `begin` on.
template <class Real, class Tile>
__device__ inline void add_contexts(const ValueMatrices<const Real>& values, const Tile& tile, index_t begin,
                                    int count, index_t share, index_t functions, index_t chunk, int size,
                                    Real* context) {
  for (index_t pair = threadIdx.x; pair < kTileRows * values.dimension; pair += kLineThreads) {
    const int t = static_cast<int>(pair % kTileRows);
    if (t >= count) continue;
    const index_t i = begin + t, m = pair / kTileRows;
    const Real* const matrix = values.data + (i / share * values.dimension + m) * functions + chunk;
    Real& out = context[i * values.dimension + m];
    Real sum = chunk == 0 ? Real(0) : out;
    for (int j = 0; j < size; ++j) sum += matrix[j] * tile[t][j];
    out = sum;
  }
}

/// The same in float where the rows have one matrix: kStagedRows of it are kept, and a thread has 4 x 2 sums.
inline constexpr int kStagedRows = 64;
template <class Tile, class Stage>
__device__ inline void add_contexts_of_one(const ValueMatrices<const float>& values, const Tile& tile,
                                           Stage& stage, index_t begin, int count, index_t share,
                                           index_t functions, index_t chunk, int size, float* context) {
  constexpr int kAcross = 4, kDown = kLineThreads / kAcross;  // threads over rows and over m
  static_assert(kTileRows == 4 * kAcross && kStagedRows == 2 * kDown);
  const int thread = static_cast<int>(threadIdx.x), t0 = thread % kAcross, m0 = thread / kAcross;
  const float* const matrix = values.data + begin / share * values.dimension * functions + chunk;
  for (index_t block = 0; block < values.dimension; block += kStagedRows) {
    const int rows = static_cast<int>(min(index_t(kStagedRows), values.dimension - block));
    __syncthreads();
    for (int k = thread; k < rows * kChunk; k += kLineThreads) {
      const int m = k / kChunk, j = k % kChunk;
      stage[m][j] = j < size ? matrix[(block + m) * functions + j] : 0.0f;
    }
    __syncthreads();
    float sums[4][2] = {};
    for (int j = 0; j < size; ++j) {
      const float first = stage[m0][j], second = stage[m0 + kDown][j];
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        const float r = tile[t0 + kAcross * k][j];
        sums[k][0] = fmaf(first, r, sums[k][0]);
        sums[k][1] = fmaf(second, r, sums[k][1]);
      }
    }
#pragma unroll
    for (int k = 0; k < 8; ++k) {
      const int t = t0 + kAcross * (k / 2), m = m0 + kDown * (k % 2);
      if (t >= count || m >= rows) continue;
      float& out = context[(begin + t) * values.dimension + block + m];
      out = chunk == 0 ? sums[k / 2][k % 2] : out + sums[k / 2][k % 2];
    }
  }
}

/// c = B r for the kTileRows rows of a block: r of kChunk functions at a time is in shared memory.
template <class Evaluator, class Real>
__global__ void __launch_bounds__(kLineThreads)
    line_context(const __grid_constant__ Evaluator evaluator, const Densities<Real> p,
                 const GaussianFunctions psi, const ValueMatrices<const Real> values, index_t share,
                 Real* context) {
  __shared__ typename Evaluator::Row rows[kTileRows];
  __shared__ Real tile[kTileRows][kChunk + 1];
  const int thread = static_cast<int>(threadIdx.x), warp = thread / kWarp, lane = thread % kWarp;
  const index_t begin = index_t(blockIdx.x) * kTileRows;
  const int count = static_cast<int>(min(index_t(kTileRows), p.rows - begin));
  if (thread < count) {
    const index_t i = begin + thread;
    rows[thread] = evaluator.template row<Wanted::kValues>(double(p.mu[i]), double(p.scale[i]), p.alpha[i]);
  }
  for (index_t chunk = 0; chunk < psi.count; chunk += kChunk) {
    const int size = static_cast<int>(min(index_t(kChunk), psi.count - chunk));
    typename Evaluator::Function functions[kPerLane];
    load_functions<Evaluator>(psi, chunk + lane * kPerLane, functions);
    __syncthreads();
    for (int t = warp; t < kTileRows; t += kLineWarps) {
      if (t >= count) {  // nothing, which is multiplied
#pragma unroll
        for (int k = 0; k < kPerLane; ++k) tile[t][lane * kPerLane + k] = 0;
        continue;
      }
#pragma unroll
      for (int k = 0; k < kPerLane; ++k) {
        tile[t][lane * kPerLane + k] =
            static_cast<Real>(evaluator.template terms<Wanted::kValues>(rows[t], functions[k]).value);
      }
    }
    __syncthreads();
    if constexpr (sizeof(Real) == 4) {
      __shared__ float stage[kStagedRows][kChunk + 1];
      if (begin / share == (begin + count - 1) / share) {
        add_contexts_of_one(values, tile, stage, begin, count, share, psi.count, chunk, size, context);
        continue;
      }
    }
    add_contexts(values, tile, begin, count, share, psi.count, chunk, size, context);
  }
}

/// The gradient of sum_ij cotangent_ij r_ij in the mean and variance of a function, by a block.
template <class Evaluator, class Real>
__global__ void __launch_bounds__(kSumThreads)
    line_basis_gradient(const __grid_constant__ Evaluator evaluator, const Densities<Real> p,
                        const GaussianFunctions psi, const Real* cotangent,
                        const BasisTangents<double> gradient) {
  __shared__ double sums[2][2 * kSumWarps];
  const index_t j = blockIdx.x;
  const auto function = Evaluator::function(psi.mean[j], psi.covariance[j]);
  double mean = 0, variance = 0;
  for (index_t i = threadIdx.x; i < p.rows; i += kSumThreads) {
    const double factor = cotangent[i * psi.count + j];
    if (factor == 0) continue;  // a slope may be infinite
    const auto row = evaluator.template row<Wanted::kAll>(double(p.mu[i]), double(p.scale[i]), p.alpha[i]);
    const auto terms = evaluator.template terms<Wanted::kAll>(row, function);
    mean -= factor * double(terms.slope);
    variance += factor * double(terms.bend);
  }
  mean = block_reduce<kSumThreads>(mean, Plus(), sums[0], 0);
  variance = block_reduce<kSumThreads>(variance, Plus(), sums[1], 0);
  if (threadIdx.x != 0) return;
  if (gradient.mean != nullptr) gradient.mean[j] = mean;
  if (gradient.covariance != nullptr) gradient.covariance[j] = variance;
}

/// Entries of a gradient in a value matrix that a thread sums.
inline constexpr int kValueRows = 16;

/// The gradient of sum_im cotangent_im c_im in B: kValueRows x 32 entries of one matrix by a block, whose
/// warps have every kSumWarps-th of the matrix's rows.
template <class Evaluator, class Real>
__global__ void __launch_bounds__(kSumThreads)
    line_values_gradient(const __grid_constant__ Evaluator evaluator, const Densities<Real> p,
                         const GaussianFunctions psi, const Real* cotangent, index_t share,
                         const ValueMatrices<Real> gradient) {
  __shared__ typename Evaluator::Row rows[kSumWarps][Evaluator::kMostRows];
  __shared__ double partial[kSumWarps][kWarp];
  const int warp = static_cast<int>(threadIdx.x) / kWarp, lane = static_cast<int>(threadIdx.x) % kWarp;
  const index_t column_blocks = (psi.count + kWarp - 1) / kWarp;
  const index_t row_blocks = (gradient.dimension + kValueRows - 1) / kValueRows;
  const index_t block = blockIdx.x, matrix = block / (column_blocks * row_blocks);
  const index_t j = block % column_blocks * kWarp + lane;
  const index_t m0 = block / column_blocks % row_blocks * kValueRows;
  const index_t from = min(j, psi.count - 1), end = (matrix + 1) * share;
  const auto function = Evaluator::function(psi.mean[from], psi.covariance[from]);
  double sums[kValueRows] = {};
  constexpr int kRows = Evaluator::kMostRows;
  for (index_t begin = matrix * share + warp * kRows; begin < end; begin += kSumWarps * kRows) {
    const int count = static_cast<int>(min(index_t(kRows), end - begin));
    __syncwarp();
    if (lane < count) {
      const index_t i = begin + lane;
      rows[warp][lane] =
          evaluator.template row<Wanted::kValues>(double(p.mu[i]), double(p.scale[i]), p.alpha[i]);
    }
    __syncwarp();
    for (int k = 0; k < count; ++k) {
      const double r = evaluator.template terms<Wanted::kValues>(rows[warp][k], function).value;
      const Real* const c = cotangent + (begin + k) * gradient.dimension;
#pragma unroll
      for (int m = 0; m < kValueRows; ++m) {
        if (m0 + m < gradient.dimension) sums[m] += double(c[m0 + m]) * r;
      }
    }
  }
#pragma unroll
  for (int m = 0; m < kValueRows; ++m) {
    __syncthreads();
    partial[warp][lane] = sums[m];
    __syncthreads();
    if (warp != 0 || j >= psi.count || m0 + m >= gradient.dimension) continue;
    double sum = partial[0][lane];
    for (int w = 1; w < kSumWarps; ++w) sum += partial[w][lane];
    gradient.data[(matrix * gradient.dimension + m0 + m) * psi.count + j] = static_cast<Real>(sum);
  }
}

}  // namespace fenchel::cuda::device
