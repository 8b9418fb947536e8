#include "backend/cuda/attention/space.hpp"
#include "backend/cuda/attention/space_launch.cuh"
#include "backend/cuda/device/attention/space_gradient.cuh"

/// Gradients: sums over the functions for each density, and sums over the densities for each function.
namespace fenchel::cuda {
namespace {

using device::Dimension, device::Family, device::SpaceRow, device::SpaceSlopes, device::Wanted;

constexpr int kWarps = kSpaceThreads / device::kWarp;

/// A warp a row. Contours are summed in Number.
template <class Array, class Number, int kD, Wanted kWanted, Family kFamily>
__global__ void __launch_bounds__(kSpaceThreads)
    attend_vjp_kernel(DensitiesIn<Array> p, FunctionArrays psi, Array cotangent, TangentsIn<Array> gradient,
                      int rows_per_block) {
  __shared__ SpaceRow<kD> rows[kMostSpaceRows];
  const Dimension<kD> d{static_cast<int>(psi.dimension)};
  const index_t first = static_cast<index_t>(blockIdx.x) * rows_per_block;
  const int count = static_cast<int>(min(static_cast<index_t>(rows_per_block), p.rows - first));
  device::load_rows(rows, p, d, first, count);
  const int warp = static_cast<int>(threadIdx.x) / device::kWarp,
            lane = static_cast<int>(threadIdx.x) % device::kWarp;
  for (int row = warp; row < count; row += kWarps) {
    const index_t i = first + row;
    device::RowGradient<kD, kWanted> sum(d);
    for (index_t j = lane; j < psi.count; j += device::kWarp) {
      SpaceSlopes<kD> slopes;
      device::attend_pair<Number, kD, kWanted, kFamily>(rows[row], psi, d, j, p.mu.accuracy(), slopes);
      sum.add(d, cotangent[i * psi.count + j], slopes);
    }
    sum.store(d, gradient, i);
  }
}

/// A block a function, in any dimension. Its densities are prepared by each thread anew: no memory is asked
/// for that would keep the sums of several functions.
__global__ void __launch_bounds__(kSpaceThreads)
    attend_basis_kernel(DensitiesIn<AnyArray> p, FunctionArrays psi, AnyArray cotangent,
                        BasisTangentArrays<double> gradient) {
  __shared__ double shared[2 * kWarps];
  const Dimension<0> d{static_cast<int>(psi.dimension)};
  const index_t j = blockIdx.x;
  SpaceSlopes<0> sum;
  sum.fill(d, 0);
  for (index_t i = threadIdx.x; i < p.rows; i += kSpaceThreads) {
    const double factor = cotangent[i * psi.count + j];
    if (factor == 0) continue;
    SpaceRow<0> row;
    row.load(p, d, i, false);
    SpaceSlopes<0> slopes;
    device::attend_pair<double, 0, Wanted::kBasisToo, Family::kAny>(row, psi, d, j, detail::Accuracy::kDouble,
                                                                    slopes);
    for (int a = 0; a < d; ++a) sum.by_mu[a] += factor * slopes.by_mu[a];
    for (int k = 0; k < d * (d + 1) / 2; ++k) sum.by_covariance[k] += factor * slopes.by_covariance[k];
  }
  int turn = 0;
  const auto total = [&](double x) {
    return device::block_reduce<kSpaceThreads>(x, device::Plus{}, shared, turn++);
  };
  for (int a = 0, k = 0; a < d; ++a) {
    const double by_mu = total(sum.by_mu[a]);
    if (threadIdx.x == 0 && gradient.mu != nullptr) gradient.mu[j * d + a] = -by_mu;
    for (int b = 0; b <= a; ++b, ++k) {
      const double entry = total(sum.by_covariance[k]);
      if (threadIdx.x == 0 && gradient.Sigma != nullptr) {
        gradient.Sigma[(j * d + a) * d + b] = gradient.Sigma[(j * d + b) * d + a] = entry;
      }
    }
  }
}

}  // namespace

template <class Real>
void attend_vjp_space(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                      const DensityTangentArrays<Real>& gradient,
                      const BasisTangentArrays<double>& basis_gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_vjp";
  const int rows = space_rows(p.rows, kWarps);
  with_dimension(kWhere, psi.dimension, [&](auto dimension) {
    constexpr int kD = dimension();
    const auto run = [&](auto kernel) {
      launch(kWhere, kernel, space_grid(kWhere, p.rows, rows), dim3(kSpaceThreads), 0, stream, p, psi,
             cotangent, gradient, rows);
    };
    if (kD == 0 || gradient.alpha != nullptr) {
      run(attend_vjp_kernel<AnyArray, double, kD, Wanted::kAlphaToo, Family::kAny>);
    } else {
      with_family<2>(p.alpha, [&](auto family) {
        run(attend_vjp_kernel<KnownArray<Real>, Real, 2, Wanted::kGradient, family()>);
      });
    }
  });
  if (basis_gradient.mu == nullptr && basis_gradient.Sigma == nullptr) return;
  launch(kWhere, attend_basis_kernel, grid_of(kWhere, psi.count), dim3(kSpaceThreads), 0, stream, p, psi,
         cotangent, basis_gradient);
}

template void attend_vjp_space(const DensityArrays<float>&, const FunctionArrays&, const float*,
                               const DensityTangentArrays<float>&, const BasisTangentArrays<double>&, Stream);
template void attend_vjp_space(const DensityArrays<double>&, const FunctionArrays&, const double*,
                               const DensityTangentArrays<double>&, const BasisTangentArrays<double>&,
                               Stream);

}  // namespace fenchel::cuda
