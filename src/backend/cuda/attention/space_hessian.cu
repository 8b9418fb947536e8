#include "backend/cuda/attention/space.hpp"
#include "backend/cuda/attention/space_launch.cuh"
#include "backend/cuda/device/attention/space_hessian.cuh"
#include "backend/cuda/device/reduce.cuh"

/// Second derivatives: sums over the functions for each density, and over the densities for each
/// function.
namespace fenchel::cuda {
namespace {

using device::AnyDimension, device::PairNumbers, device::SpaceRow;

constexpr int kWarps = kSpaceThreads / device::kWarp;

template <class Real>
struct HessianParams {
  DensityArrays<Real> p;
  FunctionArrays psi;
  const Real* cotangent;
  DensityTangentArrays<const Real> direction;
  BasisTangentArrays<const double> basis_direction;
  DensityTangentArrays<Real> product;
  BasisTangentArrays<double> basis_product;
};

/// (x + x^T) / 2, or 0 for a null one.
template <class Real>
__device__ void load_matrix(const Real* from, index_t at, int d, double* to) {
  for (int a = 0; a < d; ++a) {
    for (int b = 0; b < d; ++b) {
      to[a * d + b] = from == nullptr ? 0
                                      : 0.5 * (static_cast<double>(from[at * d * d + a * d + b]) +
                                               static_cast<double>(from[at * d * d + b * d + a]));
    }
  }
}

/// The product of pair (i, j), without its cotangent.
template <class Real>
__device__ void multiply(const HessianParams<Real>& params, const SpaceRow<device::kFew>& row, AnyDimension d,
                         index_t i, index_t j, PairNumbers& product) {
  PairNumbers direction;
  const double* const mean = params.basis_direction.mu;
  for (int a = 0; a < d; ++a) {
    direction.distance[a] =
        (mean == nullptr ? 0 : mean[j * d + a]) -
        (params.direction.mu == nullptr ? 0 : static_cast<double>(params.direction.mu[i * d + a]));
  }
  load_matrix(params.direction.Sigma, i, d, direction.scale);
  load_matrix(params.basis_direction.Sigma, j, d, direction.covariance);
  direction.alpha = params.direction.alpha == nullptr ? 0 : static_cast<double>(params.direction.alpha[i]);
  const bool alpha_too = params.direction.alpha != nullptr || params.product.alpha != nullptr;
  device::hessian_pair(row, params.psi, d, j, alpha_too, direction, product);
}

/// A warp a row.
template <class Real>
__global__ void __launch_bounds__(kSpaceThreads)
    density_product_kernel(const __grid_constant__ HessianParams<Real> params) {
  __shared__ SpaceRow<device::kFew> rows[kWarps];
  const AnyDimension d{static_cast<int>(params.psi.dimension)};
  const index_t first = static_cast<index_t>(blockIdx.x) * kWarps;
  const int count = static_cast<int>(min(static_cast<index_t>(kWarps), params.p.rows - first));
  device::load_rows(rows, params.p, d, first, count, true);
  const int warp = static_cast<int>(threadIdx.x) / device::kWarp,
            lane = static_cast<int>(threadIdx.x) % device::kWarp;
  if (warp >= count) return;
  const index_t i = first + warp;
  PairNumbers sum;
  sum.fill(d, 0);
  for (index_t j = lane; j < params.psi.count; j += device::kWarp) {
    const double factor = params.cotangent[i * params.psi.count + j];
    if (factor == 0) continue;
    PairNumbers product;
    multiply(params, rows[warp], d, i, j, product);
    for (int a = 0; a < d; ++a) sum.distance[a] -= factor * product.distance[a];
    for (int k = 0; k < d * d; ++k) sum.scale[k] += factor * product.scale[k];
    sum.alpha += factor * product.alpha;
  }
  const auto store = [&](double x, Real* to, index_t at) {
    const auto total = static_cast<Real>(device::warp_reduce(x, device::Plus{}));
    if (lane == 0 && to != nullptr) to[at] = total;
  };
  for (int a = 0; a < d; ++a) store(sum.distance[a], params.product.mu, i * d + a);
  for (int k = 0; k < d * d; ++k) store(sum.scale[k], params.product.Sigma, i * d * d + k);
  store(sum.alpha, params.product.alpha, i);
}

/// A block a function.
template <class Real>
__global__ void __launch_bounds__(kSpaceThreads)
    basis_product_kernel(const __grid_constant__ HessianParams<Real> params) {
  __shared__ double shared[2 * kWarps];
  const AnyDimension d{static_cast<int>(params.psi.dimension)};
  const index_t j = blockIdx.x;
  PairNumbers sum;
  sum.fill(d, 0);
  for (index_t i = threadIdx.x; i < params.p.rows; i += kSpaceThreads) {
    const double factor = params.cotangent[i * params.psi.count + j];
    if (factor == 0) continue;
    SpaceRow<device::kFew> row;
    row.load(params.p, d, i, true);
    PairNumbers product;
    multiply(params, row, d, i, j, product);
    for (int a = 0; a < d; ++a) sum.distance[a] += factor * product.distance[a];
    for (int k = 0; k < d * d; ++k) sum.covariance[k] += factor * product.covariance[k];
  }
  int turn = 0;
  const auto store = [&](double x, double* to, index_t at) {
    const double total = device::block_reduce<kSpaceThreads>(x, device::Plus{}, shared, turn++);
    if (threadIdx.x == 0 && to != nullptr) to[at] = total;
  };
  for (int a = 0; a < d; ++a) store(sum.distance[a], params.basis_product.mu, j * d + a);
  for (int k = 0; k < d * d; ++k) store(sum.covariance[k], params.basis_product.Sigma, j * d * d + k);
}

}  // namespace

template <class Real>
void attend_vjp_vjp_space(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                          const DensityTangentArrays<const Real>& direction,
                          const BasisTangentArrays<const double>& basis_direction,
                          const DensityTangentArrays<Real>& product,
                          const BasisTangentArrays<double>& basis_product, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_vjp_vjp";
  check_dimension(kWhere, psi.dimension, AnyDimension::kMost);
  const HessianParams<Real> params{p, psi, cotangent, direction, basis_direction, product, basis_product};
  if (product.mu != nullptr || product.Sigma != nullptr || product.alpha != nullptr) {
    launch(kWhere, density_product_kernel<Real>, space_grid(kWhere, p.rows, kWarps), dim3(kSpaceThreads), 0,
           stream, params);
  }
  if (basis_product.mu != nullptr || basis_product.Sigma != nullptr) {
    launch(kWhere, basis_product_kernel<Real>, grid_of(kWhere, psi.count), dim3(kSpaceThreads), 0, stream,
           params);
  }
}

template void attend_vjp_vjp_space(const DensityArrays<float>&, const FunctionArrays&, const float*,
                                   const DensityTangentArrays<const float>&,
                                   const BasisTangentArrays<const double>&,
                                   const DensityTangentArrays<float>&, const BasisTangentArrays<double>&,
                                   Stream);
template void attend_vjp_vjp_space(const DensityArrays<double>&, const FunctionArrays&, const double*,
                                   const DensityTangentArrays<const double>&,
                                   const BasisTangentArrays<const double>&,
                                   const DensityTangentArrays<double>&, const BasisTangentArrays<double>&,
                                   Stream);

}  // namespace fenchel::cuda
