#include <cstdint>
#include <string_view>

#include "backend/cuda/beta_gaussian/checks.hpp"
#include "backend/cuda/device/elements.cuh"
#include "core/random/draw_direction.hpp"
#include "core/random/portable_variates.hpp"
#include "core/random/whitened_draw.hpp"
#include "fenchel/backend/cuda/beta_gaussian.hpp"
#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"

/// Compiled without contraction, so that draws have the bits of those of the CPU.
namespace fenchel::cuda {
namespace {

using detail::PlanePoint, detail::PolarBits, detail::PolarLaw;

__device__ inline PlanePoint polar_pair(const PolarLaw& law, std::uint64_t seed, std::uint64_t block,
                                        std::uint64_t stream) {
  const PolarBits bits = detail::polar_bits(seed, block, stream);
  const double radius2 = law.power == 0 ? detail::exponential_radius2(law, bits.radial)
                                        : detail::power_radius2(law, bits.radial);
  return detail::polar_point(radius2, bits.angular);
}

/// mu_j + sum_i F_ji z_i, as the CPU sums.
template <class Z>
__device__ inline double affine(const BetaGaussianParams& p, index_t j, const Z& z) {
  const index_t rank = p.constants.dimension;
  double sum = 0;
  for (index_t i = 0; i < rank; ++i) {
    const double f = p.factor[j * rank + i];
    if (f != 0) sum += f * z(i);
  }
  return p.mu[j] + sum;
}

/// Rank 1 and 2, a row a thread.
template <class Real>
__global__ void __launch_bounds__(device::kElementThreads)
    polar_kernel(BetaGaussianParams p, PolarLaw law, std::uint64_t seed, std::uint64_t first_stream,
                 DeviceRows<Real> out) {
  for (index_t k = device::first_item(); k < out.rows; k += device::item_stride()) {
    const PlanePoint z = polar_pair(law, seed, 0, first_stream + static_cast<std::uint64_t>(k));
    Real* const row = out.row(k);
    for (index_t j = 0; j < p.size; ++j) {
      row[j * out.step] = static_cast<Real>(affine(p, j, [&](index_t i) { return i == 0 ? z.x : z.y; }));
    }
  }
}

/// Any rank. A block takes `rows_per_block` rows at a time, a divisor or less of its threads; their z are in
/// shared memory, coordinate by coordinate. Neighbours among the threads have neighbouring rows.
constexpr int kDrawThreads = 128;

template <class Real>
__global__ void __launch_bounds__(kDrawThreads)
    normal_kernel(BetaGaussianParams p, std::uint64_t seed, std::uint64_t first_stream, int rows_per_block,
                  DeviceRows<Real> out) {
  extern __shared__ double z[];
  const BetaGaussianConstants& c = p.constants;
  const index_t rank = c.dimension, pairs = (rank + 1) / 2, blocks = gridDim.x;
  const PolarLaw normal{2, 0};
  const int row = static_cast<int>(threadIdx.x) % rows_per_block,
            part = static_cast<int>(threadIdx.x) / rows_per_block, parts = kDrawThreads / rows_per_block;
  double* const mine = z + row;
  for (index_t first = blockIdx.x * index_t{rows_per_block}; first < out.rows;
       first += blocks * rows_per_block) {
    const bool busy = part < parts && first + row < out.rows;
    const std::uint64_t stream = first_stream + static_cast<std::uint64_t>(first + row);
    for (index_t pair = part; busy && pair < pairs; pair += parts) {
      const PlanePoint point = polar_pair(normal, seed, static_cast<std::uint64_t>(pair), stream);
      mine[2 * pair * rows_per_block] = point.x;
      mine[(2 * pair + 1) * rows_per_block] = point.y;
    }
    __syncthreads();
    if (busy && part == 0 && c.am1 != 0) {
      double norm2 = 0;
      for (index_t i = 0; c.am1 > 0 && i < rank; ++i) {
        const double x = mine[i * rows_per_block];
        norm2 += x * x;
      }
      Philox rng = detail::after_normals(c, seed, stream);
      const double gamma = detail::portable_gamma(detail::gamma_shape(c), rng);
      const double scale = detail::deformation(c, norm2, gamma);
      for (index_t i = 0; i < rank; ++i) mine[i * rows_per_block] *= scale;
    }
    __syncthreads();
    for (index_t j = part; busy && j < p.size; j += parts) {
      const double x = affine(p, j, [&](index_t i) { return mine[i * rows_per_block]; });
      out.row(first + row)[j * out.step] = static_cast<Real>(x);
    }
    __syncthreads();
  }
}

/// The most rows whose z are in shared memory.
int rows_per_block(std::string_view where, index_t rank) {
  constexpr index_t kSmallBytes = 48 * 1024, kNumber = sizeof(double);
  const index_t bytes = (rank + rank % 2) * kNumber;
  for (const int rows : {kDrawThreads, 32}) {
    if (rows * bytes <= kSmallBytes) return rows;
  }
  int device = 0, most = 0;
  throw_if_failed(where, cudaGetDevice(&device));
  throw_if_failed(where, cudaDeviceGetAttribute(&most, cudaDevAttrMaxSharedMemoryPerBlockOptin, device));
  const index_t fitting = most / bytes;
  if (fitting < 1) {
    throw_invalid_argument(where, "constants.dimension",
                           "must be at most " + shortest(most / (2 * kNumber) * 2) + " on this GPU", rank);
  }
  return static_cast<int>(std::min<index_t>(fitting, 32));
}

__global__ void __launch_bounds__(device::kElementThreads)
    direction_kernel(const double* seeds, index_t count, index_t dimension, double* out) {
  for (index_t k = device::first_item(); k < count; k += device::item_stride()) {
    Philox rng(static_cast<std::uint64_t>(seeds[k]));
    detail::fill_direction(out + k * dimension, dimension, [&] { return detail::portable_normal(rng()); });
  }
}

}  // namespace

template <class Real>
void sample_rows(const BetaGaussianParams& p, std::uint64_t seed, std::uint64_t first_stream,
                 DeviceRows<Real> out, Stream stream) {
  constexpr std::string_view kWhere = "cuda::sample_rows";
  check_params(kWhere, p);
  check_points(kWhere, "out", p, out);
  if (out.rows == 0) return;
  check_pointer(kWhere, "mu", p.mu);
  check_pointer(kWhere, "factor", p.factor);
  const index_t rank = p.constants.dimension;
  if (rank <= 2) {
    launch(kWhere, polar_kernel<Real>, device::element_blocks(out.rows), device::kElementThreads, 0, stream,
           p, detail::polar_law(p.constants), seed, first_stream, out);
    return;
  }
  const int rows = rows_per_block(kWhere, rank);
  const auto bytes =
      static_cast<std::size_t>(rows) * static_cast<std::size_t>(rank + rank % 2) * sizeof(double);
  const index_t blocks = std::min<index_t>((out.rows + rows - 1) / rows, 1 << 16);
  launch(kWhere, normal_kernel<Real>, static_cast<unsigned>(blocks), kDrawThreads, bytes, stream, p, seed,
         first_stream, rows, out);
}

template void sample_rows(const BetaGaussianParams&, std::uint64_t, std::uint64_t, DeviceRows<float>, Stream);
template void sample_rows(const BetaGaussianParams&, std::uint64_t, std::uint64_t, DeviceRows<double>,
                          Stream);

void draw_directions(const double* seeds, index_t count, index_t dimension, double* out, Stream stream) {
  constexpr std::string_view kWhere = "cuda::draw_directions";
  if (count < 0) throw_invalid_argument(kWhere, "count", "must not be negative", count);
  if (dimension < 1) throw_invalid_argument(kWhere, "dimension", "must be at least 1", dimension);
  if (count == 0) return;
  check_pointer(kWhere, "seeds", seeds);
  check_pointer(kWhere, "out", out);
  launch(kWhere, direction_kernel, device::element_blocks(count), device::kElementThreads, 0, stream, seeds,
         count, dimension, out);
}

}  // namespace fenchel::cuda
