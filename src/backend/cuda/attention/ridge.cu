#include "fenchel/backend/cuda/ridge.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "backend/cuda/device/reduce.cuh"
#include "backend/cuda/launch.cuh"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {
namespace {

constexpr int kThreads = 256;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// The system of one length: F^T F + lambda if that is smaller than F F^T + lambda.
struct System {
  const double* design;
  index_t length, functions, columns;

  [[nodiscard]] __device__ bool exists() const { return length >= 1 && length <= columns; }
  [[nodiscard]] __device__ bool small() const { return length < functions; }
  [[nodiscard]] __device__ index_t size() const { return small() ? length : functions; }
  [[nodiscard]] __device__ index_t sides() const { return small() ? functions : length; }
  [[nodiscard]] __device__ double element(index_t j, index_t l) const { return design[j * columns + l]; }
  /// Element i of right side k: F^T of a small system, F of another.
  [[nodiscard]] __device__ double side(index_t i, index_t k) const {
    return small() ? element(k, i) : element(i, k);
  }
  [[nodiscard]] __device__ double product(index_t i, index_t k) const {
    double sum = 0;
    for (index_t s = 0; s < sides(); ++s) sum += side(i, s) * side(k, s);
    return sum;
  }
};

__device__ System system_of(const RidgeDesigns& designs, index_t s) {
  return {designs.values + s * designs.functions * designs.columns, designs.lengths[s], designs.functions,
          designs.columns};
}

__host__ __device__ constexpr index_t factor_size(const RidgeDesigns& designs) noexcept {
  const index_t n = designs.functions < designs.columns ? designs.functions : designs.columns;
  return n * n;
}

/// The Cholesky factor, below and on the diagonal of a size x size matrix, column by column; NaN where there
/// is none.
__global__ void __launch_bounds__(kThreads)
    factor_kernel(const RidgeDesigns designs, const double lambda, double* factors) {
  __shared__ double pivot, least;
  const System system = system_of(designs, blockIdx.x);
  if (!system.exists()) return;
  const index_t n = system.size();
  double* const a = factors + index_t{blockIdx.x} * factor_size(designs);
  for (index_t e = threadIdx.x; e < n * n; e += kThreads) {
    const index_t i = e / n, k = e % n;
    if (k <= i) a[e] = system.product(i, k) + (i == k ? lambda : 0.0);
  }
  __syncthreads();
  if (threadIdx.x == 0) {
    least = 0;
    for (index_t i = 0; i < n; ++i) least = fmax(least, a[i * n + i]);
    least *= static_cast<double>(n) * std::numeric_limits<double>::epsilon();
  }
  for (index_t k = 0; k < n; ++k) {
    __syncthreads();
    if (threadIdx.x == 0) {
      const double square = a[k * n + k];
      pivot = square > least && square < kInfinity ? sqrt(square) : kNaN;
      a[k * n + k] = pivot;
    }
    __syncthreads();
    for (index_t i = k + 1 + threadIdx.x; i < n; i += kThreads) a[i * n + k] /= pivot;
    __syncthreads();
    const index_t rest = n - k - 1;
    for (index_t e = threadIdx.x; e < rest * rest; e += kThreads) {
      const index_t i = k + 1 + e / rest, j = k + 1 + e % rest;
      if (j <= i) a[i * n + j] -= a[i * n + k] * a[j * n + k];
    }
  }
}

/// A warp for each right side, whose solution is a row of G, or a column of it for a small system; and for
/// each row of padding.
__global__ void __launch_bounds__(kThreads)
    solve_kernel(const RidgeDesigns designs, const double* factors, double* matrices, const index_t warps) {
  const int lane = static_cast<int>(threadIdx.x) % device::kWarp;
  const index_t warp = (index_t{blockIdx.x} * kThreads + threadIdx.x) / device::kWarp;
  const index_t s = warp / warps, side = warp % warps;
  if (s >= designs.count) return;
  const System system = system_of(designs, s);
  const index_t functions = designs.functions;
  double* const g = matrices + s * functions * designs.columns;
  if (side >= system.length || !system.exists()) {
    const double fill = system.exists() ? 0.0 : kNaN;
    if (side < designs.columns) {
      for (index_t j = lane; j < functions; j += device::kWarp) g[side * functions + j] = fill;
    }
    if (!system.exists()) return;
  }
  if (side >= system.sides()) return;
  const index_t n = system.size(), step = system.small() ? functions : 1;
  const double* const factor = factors + s * factor_size(designs);
  double* const x = system.small() ? g + side : g + side * functions;
  for (index_t i = 0; i < n; ++i) {
    double sum = 0;
    for (index_t k = lane; k < i; k += device::kWarp) sum += factor[i * n + k] * x[k * step];
    sum = device::warp_reduce(sum, device::Plus());
    if (lane == 0) x[i * step] = (system.side(i, side) - sum) / factor[i * n + i];
    __syncwarp();
  }
  for (index_t i = n - 1; i >= 0; --i) {
    const double value = x[i * step] / factor[i * n + i];
    __syncwarp();
    if (lane == 0) x[i * step] = value;
    for (index_t k = lane; k < i; k += device::kWarp) x[k * step] -= factor[i * n + k] * value;
    __syncwarp();
  }
}

constexpr int kTileRows = 32, kTileCols = 64, kTileDepth = 16;

/// A tile of `out` = `in` times G, or its transpose, of the sequence that the rows belong to.
template <class Real, bool kTransposed>
__global__ void __launch_bounds__(kThreads)
    multiply_kernel(const RidgeMatrices matrices, const std::int64_t* which, const index_t each,
                    const DeviceRows<const Real> in, const DeviceRows<Real> out, const index_t row_tiles,
                    const index_t col_tiles) {
  constexpr int kRows = 2, kCols = 4;  // of a thread
  static_assert(kThreads * kRows * kCols == kTileRows * kTileCols);
  __shared__ double left[kTileRows][kTileDepth + 1], right[kTileDepth][kTileCols + 1];
  const index_t col_tile = index_t{blockIdx.x} % col_tiles, rest = index_t{blockIdx.x} / col_tiles;
  const index_t sequence = rest / row_tiles;
  const index_t first_row = rest % row_tiles * kTileRows, first_col = col_tile * kTileCols;
  const index_t s = which == nullptr ? 0 : which[sequence];
  const bool listed = s >= 0 && s < matrices.count;
  const index_t length = listed ? matrices.lengths[s] : 0, functions = matrices.functions;
  const index_t room = kTransposed ? out.cols : in.cols;
  const bool exists = listed && length >= 1 && length <= matrices.columns && length <= room;
  const index_t depth = !exists ? 0 : kTransposed ? functions : length;
  const index_t width = !exists ? 0 : kTransposed ? length : functions;
  const double* const g = matrices.values + (listed ? s : 0) * functions * matrices.columns;
  const int t = static_cast<int>(threadIdx.x), row = t / (kTileCols / kCols) * kRows,
            col = t % (kTileCols / kCols);
  double sums[kRows][kCols] = {};
  for (index_t k0 = 0; k0 < depth; k0 += kTileDepth) {
    for (int e = t; e < kTileRows * kTileDepth; e += kThreads) {
      const index_t i = first_row + e / kTileDepth, k = k0 + e % kTileDepth;
      left[e / kTileDepth][e % kTileDepth] =
          i < each && k < depth ? static_cast<double>(in.row(sequence * each + i)[k * in.step]) : 0.0;
    }
    for (int e = t; e < kTileCols * kTileDepth; e += kThreads) {
      const int across = kTransposed ? e / kTileDepth : e % kTileCols;
      const int down = kTransposed ? e % kTileDepth : e / kTileCols;
      const index_t j = first_col + across, k = k0 + down;
      right[down][across] =
          j < width && k < depth ? (kTransposed ? g[j * functions + k] : g[k * functions + j]) : 0.0;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < kTileDepth; ++k) {
#pragma unroll
      for (int r = 0; r < kRows; ++r) {
#pragma unroll
        for (int c = 0; c < kCols; ++c)
          sums[r][c] += left[row + r][k] * right[k][col + c * (kTileCols / kCols)];
      }
    }
    __syncthreads();
  }
  for (int r = 0; r < kRows; ++r) {
    for (int c = 0; c < kCols; ++c) {
      const index_t i = first_row + row + r, j = first_col + col + c * (kTileCols / kCols);
      if (i >= each || j >= out.cols) continue;
      out.row(sequence * each + i)[j * out.step] = static_cast<Real>(exists ? sums[r][c] : kNaN);
    }
  }
}

void check_counts(std::string_view where, const double* values, const std::int64_t* lengths, index_t count,
                  index_t functions, index_t columns) {
  if (count < 0) throw_invalid_argument(where, "count", "must not be negative", count);
  if (functions < 1) throw_invalid_argument(where, "functions", "must be positive", functions);
  if (columns < 1) throw_invalid_argument(where, "columns", "must be positive", columns);
  if (count == 0) return;
  check_pointer(where, "values", values);
  check_pointer(where, "lengths", lengths);
}

template <class Real, bool kTransposed>
void multiply(std::string_view where, const RidgeMatrices& matrices, const std::int64_t* which,
              index_t sequences, const DeviceRows<const Real>& in, const DeviceRows<Real>& out,
              Stream stream) {
  if (in.rows != out.rows) {
    throw_invalid_argument(where, kTransposed ? "gradient" : "coefficients",
                           "must have as many rows as the other, " + shortest(in.rows), out.rows);
  }
  const index_t whole = kTransposed ? in.cols : out.cols;
  if (whole != matrices.functions) {
    throw_invalid_argument(where, kTransposed ? "cotangent" : "coefficients",
                           "must have a column for each function, " + shortest(matrices.functions), whole);
  }
  if (sequences < 0 || (sequences == 0 ? in.rows > 0 : in.rows % sequences != 0)) {
    throw_invalid_argument(where, "sequences", "must divide the number of rows, " + shortest(in.rows),
                           sequences);
  }
  if (in.rows == 0) return;
  const index_t each = in.rows / sequences;
  const index_t row_tiles = (each + kTileRows - 1) / kTileRows,
                col_tiles = (out.cols + kTileCols - 1) / kTileCols;
  launch(where, multiply_kernel<Real, kTransposed>, grid_of(where, sequences * row_tiles * col_tiles),
         dim3(kThreads), 0, stream, matrices, which, each, in, out, row_tiles, col_tiles);
}

}  // namespace

std::size_t ridge_scratch_bytes(const RidgeDesigns& designs) noexcept {
  return static_cast<std::size_t>(designs.count * factor_size(designs)) * sizeof(double);
}

void ridge_matrices(const RidgeDesigns& designs, double lambda, double* matrices, void* scratch,
                    Stream stream) {
  constexpr std::string_view kWhere = "cuda::ridge_matrices";
  check_counts(kWhere, designs.values, designs.lengths, designs.count, designs.functions, designs.columns);
  detail::checked_nonnegative(kWhere, "lambda", lambda);
  if (designs.count == 0) return;
  check_pointer(kWhere, "matrices", matrices);
  check_pointer(kWhere, "scratch", scratch);
  auto* const factors = static_cast<double*>(scratch);
  launch(kWhere, factor_kernel, grid_of(kWhere, designs.count), dim3(kThreads), 0, stream, designs, lambda,
         factors);
  constexpr index_t kWarps = kThreads / device::kWarp;
  const index_t warps = std::max(designs.columns, designs.functions);
  launch(kWhere, solve_kernel, grid_of(kWhere, (designs.count * warps + kWarps - 1) / kWarps), dim3(kThreads),
         0, stream, designs, factors, matrices, warps);
}

template <class Real>
void ridge_fit(const RidgeMatrices& matrices, const std::int64_t* which, index_t sequences,
               DeviceRows<const Real> observations, DeviceRows<Real> coefficients, Stream stream) {
  constexpr std::string_view kWhere = "cuda::ridge_fit";
  check_counts(kWhere, matrices.values, matrices.lengths, matrices.count, matrices.functions,
               matrices.columns);
  check_view(kWhere, "observations", observations);
  check_view(kWhere, "coefficients", coefficients);
  multiply<Real, false>(kWhere, matrices, which, sequences, observations, coefficients, stream);
}

template <class Real>
void ridge_fit_vjp(const RidgeMatrices& matrices, const std::int64_t* which, index_t sequences,
                   DeviceRows<const Real> cotangent, DeviceRows<Real> gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::ridge_fit_vjp";
  check_counts(kWhere, matrices.values, matrices.lengths, matrices.count, matrices.functions,
               matrices.columns);
  check_view(kWhere, "cotangent", cotangent);
  check_view(kWhere, "gradient", gradient);
  multiply<Real, true>(kWhere, matrices, which, sequences, cotangent, gradient, stream);
}

template void ridge_fit(const RidgeMatrices&, const std::int64_t*, index_t, DeviceRows<const float>,
                        DeviceRows<float>, Stream);
template void ridge_fit(const RidgeMatrices&, const std::int64_t*, index_t, DeviceRows<const double>,
                        DeviceRows<double>, Stream);
template void ridge_fit_vjp(const RidgeMatrices&, const std::int64_t*, index_t, DeviceRows<const float>,
                            DeviceRows<float>, Stream);
template void ridge_fit_vjp(const RidgeMatrices&, const std::int64_t*, index_t, DeviceRows<const double>,
                            DeviceRows<double>, Stream);

}  // namespace fenchel::cuda
