#include "backend/cuda/attention/space.hpp"
#include "backend/cuda/attention/space_launch.cuh"
#include "backend/cuda/device/attention/space_gradient.cuh"

/// Contexts B r and their gradients. Expectations stay in the shared memory of a block.
namespace fenchel::cuda {
namespace {

using device::Dimension, device::Family, device::SpaceRow, device::SpaceSlopes, device::Wanted;

constexpr int kWarps = kSpaceThreads / device::kWarp;
constexpr int kRows = kWarps;            ///< of a block
constexpr int kTile = 128;               ///< functions at a time
constexpr index_t kMostContexts = 1024;  ///< numbers of a context that a block sums

/// The matrix of density i.
template <class Real>
__device__ const Real* matrix_of(const ValueMatrices<const Real>& values, index_t rows, index_t count,
                                 index_t i) {
  return values.data + i / (rows / values.count) * values.dimension * count;
}

/// Blocks (b, c) do rows kRows b, ... and numbers kMostContexts c, ... of their contexts.
template <class Real, int kD>
__global__ void __launch_bounds__(kSpaceThreads)
    attend_context_kernel(Densities<Real> p, GaussianFunctions psi, ValueMatrices<const Real> values,
                          Real* context) {
  __shared__ SpaceRow<kD> rows[kRows];
  __shared__ double r[kRows][kTile];
  __shared__ double sums[kRows][kMostContexts];
  const Dimension<kD> d{static_cast<int>(psi.dimension)};
  const index_t first = static_cast<index_t>(blockIdx.x) * kRows, begin = blockIdx.y * kMostContexts;
  const int count = static_cast<int>(min(static_cast<index_t>(kRows), p.rows - first));
  const int size = static_cast<int>(min(kMostContexts, values.dimension - begin));
  device::load_rows(rows, p, d, first, count);
  const int warp = static_cast<int>(threadIdx.x) / device::kWarp,
            lane = static_cast<int>(threadIdx.x) % device::kWarp;
  const Real* matrices[kRows];
  for (int row = 0; row < kRows; ++row) {
    matrices[row] = matrix_of(values, p.rows, psi.count, first + min(row, count - 1)) + begin * psi.count;
  }
  for (index_t tile = 0; tile < psi.count; tile += kTile) {
    const int width = static_cast<int>(min(static_cast<index_t>(kTile), psi.count - tile));
    for (int k = static_cast<int>(threadIdx.x); k < kRows * width; k += kSpaceThreads) {
      const int row = k / width, j = k - row * width;
      SpaceSlopes<kD> slopes;
      slopes.value = 0;
      if (row < count) {
        device::attend_pair<Real, kD, Wanted::kValues, Family::kAny>(rows[row], psi, d, tile + j, slopes);
      }
      r[row][j] = slopes.value;
    }
    __syncthreads();
    for (int m = warp; m < size; m += kWarps) {
      double sum[kRows] = {};
      for (int j = lane; j < width; j += device::kWarp) {
        const index_t at = m * psi.count + tile + j;
#pragma unroll
        for (int row = 0; row < kRows; ++row) sum[row] += r[row][j] * static_cast<double>(matrices[row][at]);
      }
#pragma unroll
      for (int row = 0; row < kRows; ++row) {
        const double all = device::warp_reduce(sum[row], device::Plus{});
        if (lane == 0) sums[row][m] = tile == 0 ? all : sums[row][m] + all;
      }
    }
    __syncthreads();
  }
  for (int k = static_cast<int>(threadIdx.x); k < count * size; k += kSpaceThreads) {
    const int row = k / size, m = k - row * size;
    context[(first + row) * values.dimension + begin + m] = static_cast<Real>(sums[row][m]);
  }
}

/// A warp a row, whose cotangents B^T c a block computes for a tile of functions.
template <class Real, int kD>
__global__ void __launch_bounds__(kSpaceThreads)
    attend_context_vjp_kernel(Densities<Real> p, GaussianFunctions psi, ValueMatrices<const Real> values,
                              const Real* cotangent, DensityTangents<Real> gradient) {
  __shared__ SpaceRow<kD> rows[kRows];
  __shared__ double pulled[kRows][kTile];
  const Dimension<kD> d{static_cast<int>(psi.dimension)};
  const index_t first = static_cast<index_t>(blockIdx.x) * kRows;
  const int count = static_cast<int>(min(static_cast<index_t>(kRows), p.rows - first));
  device::load_rows(rows, p, d, first, count);
  const int warp = static_cast<int>(threadIdx.x) / device::kWarp,
            lane = static_cast<int>(threadIdx.x) % device::kWarp;
  device::RowGradient<kD, Wanted::kAlphaToo> sum(d);
  for (index_t tile = 0; tile < psi.count; tile += kTile) {
    const int width = static_cast<int>(min(static_cast<index_t>(kTile), psi.count - tile));
    for (int k = static_cast<int>(threadIdx.x); k < count * width; k += kSpaceThreads) {
      const int row = k / width, j = k - row * width;
      const index_t i = first + row;
      const Real* const matrix = matrix_of(values, p.rows, psi.count, i) + tile + j;
      double factor = 0;
      for (index_t m = 0; m < values.dimension; ++m) {
        factor += static_cast<double>(cotangent[i * values.dimension + m]) *
                  static_cast<double>(matrix[m * psi.count]);
      }
      pulled[row][j] = factor;
    }
    __syncthreads();
    for (int j = lane; warp < count && j < width; j += device::kWarp) {
      SpaceSlopes<kD> slopes;
      device::attend_pair<Real, kD, Wanted::kAlphaToo, Family::kAny>(rows[warp], psi, d, tile + j, slopes);
      sum.add(d, pulled[warp][j], slopes);
    }
    __syncthreads();
  }
  if (warp < count) sum.store(d, gradient, first + warp);
}

constexpr int kValueThreads = 256, kValueFunctions = 16, kValueRows = kValueThreads / kValueFunctions,
              kValueSums = 16;

/// sum_i c_im r_ij over the rows of a matrix: blocks (b, c) do kValueFunctions columns j of one matrix and
/// kValueSums kValueRows of its rows m, a thread kValueSums numbers.
template <class Real, int kD>
__global__ void __launch_bounds__(kValueThreads)
    values_gradient_kernel(Densities<Real> p, GaussianFunctions psi, const Real* cotangent,
                           ValueMatrices<Real> gradient) {
  __shared__ SpaceRow<kD> rows[kValueRows];
  __shared__ double r[kValueRows][kValueFunctions];
  const Dimension<kD> d{static_cast<int>(psi.dimension)};
  const index_t tiles = (psi.count + kValueFunctions - 1) / kValueFunctions, which = blockIdx.x / tiles;
  const index_t j = (blockIdx.x - which * tiles) * kValueFunctions + threadIdx.x % kValueFunctions;
  const int part = static_cast<int>(threadIdx.x) / kValueFunctions,
            column = static_cast<int>(threadIdx.x) % kValueFunctions;
  const index_t m = static_cast<index_t>(blockIdx.y) * kValueSums * kValueRows + part;
  const index_t share = p.rows / gradient.count, end = (which + 1) * share;
  double sums[kValueSums] = {};
  for (index_t first = which * share; first < end; first += kValueRows) {
    const int count = static_cast<int>(min(static_cast<index_t>(kValueRows), end - first));
    device::load_rows(rows, p, d, first, count);
    SpaceSlopes<kD> slopes;
    slopes.value = 0;
    if (part < count && j < psi.count) {
      device::attend_pair<Real, kD, Wanted::kValues, Family::kAny>(rows[part], psi, d, j, slopes);
    }
    r[part][column] = slopes.value;
    __syncthreads();
    for (int row = 0; row < count; ++row) {
      const double value = r[row][column];
#pragma unroll
      for (int k = 0; k < kValueSums; ++k) {
        const index_t at = m + k * kValueRows;
        if (at < gradient.dimension)
          sums[k] += value * static_cast<double>(cotangent[(first + row) * gradient.dimension + at]);
      }
    }
    __syncthreads();
  }
  if (j >= psi.count) return;
#pragma unroll
  for (int k = 0; k < kValueSums; ++k) {
    const index_t at = m + k * kValueRows;
    if (at < gradient.dimension)
      gradient.data[(which * gradient.dimension + at) * psi.count + j] = static_cast<Real>(sums[k]);
  }
}

[[nodiscard]] index_t parts(index_t size, index_t part) { return (size + part - 1) / part; }

}  // namespace

template <class Real>
void attend_context_space(const Densities<Real>& p, const GaussianFunctions& psi,
                          const ValueMatrices<const Real>& values, Real* context, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_context";
  with_dimension(kWhere, psi.dimension, [&](auto dimension) {
    launch(kWhere, attend_context_kernel<Real, dimension()>,
           grid_of(kWhere, parts(p.rows, kRows), parts(values.dimension, kMostContexts)), dim3(kSpaceThreads),
           0, stream, p, psi, values, context);
  });
}

template <class Real>
void attend_context_vjp_space(const Densities<Real>& p, const GaussianFunctions& psi,
                              const ValueMatrices<const Real>& values, const Real* cotangent,
                              const DensityTangents<Real>& gradient,
                              const ValueMatrices<Real>& values_gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_context_vjp";
  with_dimension(kWhere, psi.dimension, [&](auto dimension) {
    launch(kWhere, attend_context_vjp_kernel<Real, dimension()>, space_grid(kWhere, p.rows, kRows),
           dim3(kSpaceThreads), 0, stream, p, psi, values, cotangent, gradient);
    if (values_gradient.data == nullptr) return;
    launch(kWhere, values_gradient_kernel<Real, dimension()>,
           grid_of(kWhere, values.count * parts(psi.count, kValueFunctions),
                   parts(values.dimension, index_t{kValueSums} * kValueRows)),
           dim3(kValueThreads), 0, stream, p, psi, cotangent, values_gradient);
  });
}

template void attend_context_space(const Densities<float>&, const GaussianFunctions&,
                                   const ValueMatrices<const float>&, float*, Stream);
template void attend_context_space(const Densities<double>&, const GaussianFunctions&,
                                   const ValueMatrices<const double>&, double*, Stream);
template void attend_context_vjp_space(const Densities<float>&, const GaussianFunctions&,
                                       const ValueMatrices<const float>&, const float*,
                                       const DensityTangents<float>&, const ValueMatrices<float>&, Stream);
template void attend_context_vjp_space(const Densities<double>&, const GaussianFunctions&,
                                       const ValueMatrices<const double>&, const double*,
                                       const DensityTangents<double>&, const ValueMatrices<double>&, Stream);

}  // namespace fenchel::cuda
