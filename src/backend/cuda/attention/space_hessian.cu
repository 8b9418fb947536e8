#include "backend/cuda/attention/any_arrays.cuh"
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

struct HessianParams {
  DensitiesIn<AnyArray> p;
  FunctionArrays psi;
  AnyArray cotangent;
  TangentsIn<AnyArray> direction;
  BasisTangentArrays<const double> basis_direction;
  bool alpha_too;
};

/// (x + x^T) / 2, or 0 for one that is not given.
__device__ void load_matrix(const AnyArray& from, index_t at, int d, double* to) {
  for (int a = 0; a < d; ++a) {
    for (int b = 0; b < d; ++b) {
      to[a * d + b] =
          from.given() ? 0.5 * (from[at * d * d + a * d + b] + from[at * d * d + b * d + a]) : 0.0;
    }
  }
}

/// The product of pair (i, j), without its cotangent.
__device__ void multiply(const HessianParams& params, const SpaceRow<device::kFew>& row, AnyDimension d,
                         index_t i, index_t j, PairNumbers& product) {
  PairNumbers direction;
  const double* const mean = params.basis_direction.mu;
  for (int a = 0; a < d; ++a) {
    direction.distance[a] = (mean == nullptr ? 0 : mean[j * d + a]) -
                            (params.direction.mu.given() ? params.direction.mu[i * d + a] : 0.0);
  }
  load_matrix(params.direction.Sigma, i, d, direction.scale);
  load_matrix(params.basis_direction.Sigma, j, d, direction.covariance);
  direction.alpha = params.direction.alpha.given() ? params.direction.alpha[i] : 0.0;
  device::hessian_pair(row, params.psi, d, j, params.alpha_too, direction, product);
}

/// A warp sums the products of a density over the functions, or a block those of a function over the
/// densities, which each of its threads prepares for itself. One kernel, since a pair takes seconds to
/// compile.
__global__ void __launch_bounds__(kSpaceThreads)
    product_kernel(const __grid_constant__ HessianParams params, const bool of_basis,
                   const TangentsIn<AnyArray> product) {
  __shared__ double shared[2 * kWarps];
  const AnyDimension d{static_cast<int>(params.psi.dimension)};
  const int threads = of_basis ? kSpaceThreads : device::kWarp,
            rank = static_cast<int>(threadIdx.x) % threads;
  const index_t own =
      of_basis ? index_t{blockIdx.x} : index_t{blockIdx.x} * kWarps + static_cast<int>(threadIdx.x) / threads;
  if (!of_basis && own >= params.p.rows) return;
  PairNumbers sum;
  sum.fill(d, 0);
  SpaceRow<device::kFew> row;
  index_t prepared = -1;
  const index_t others = of_basis ? params.p.rows : params.psi.count;
  for (index_t k = rank; k < others; k += threads) {
    const index_t i = of_basis ? k : own, j = of_basis ? own : k;
    const double factor = params.cotangent[i * params.psi.count + j];
    if (factor == 0) continue;
    if (i != prepared) row.load(params.p, d, i, true);
    prepared = i;
    PairNumbers term;
    multiply(params, row, d, i, j, term);
    for (int a = 0; a < d; ++a) sum.distance[a] += factor * term.distance[a];
    for (int m = 0; m < d * d; ++m) {
      sum.scale[m] += factor * term.scale[m];
      sum.covariance[m] += factor * term.covariance[m];
    }
    sum.alpha += factor * term.alpha;
  }
  int turn = 0;
  const auto store = [&](double x, const AnyArray& to, index_t at) {
    const double total = of_basis ? device::block_reduce<kSpaceThreads>(x, device::Plus{}, shared, turn++)
                                  : device::warp_reduce(x, device::Plus{});
    if (rank == 0 && to.given()) to.set(at, total);
  };
  const double sign = of_basis ? 1 : -1;  // the distance is the function's mean less the density's
  for (int a = 0; a < d; ++a) store(sign * sum.distance[a], product.mu, own * d + a);
  for (int m = 0; m < d * d; ++m) {
    store(of_basis ? sum.covariance[m] : sum.scale[m], product.Sigma, own * d * d + m);
  }
  store(sum.alpha, product.alpha, own);
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
  const bool alpha_too = direction.alpha != nullptr || product.alpha != nullptr;
  const HessianParams params{p, psi, cotangent, direction, basis_direction, alpha_too};
  if (product.mu != nullptr || product.Sigma != nullptr || product.alpha != nullptr) {
    launch(kWhere, product_kernel, space_grid(kWhere, p.rows, kWarps), dim3(kSpaceThreads), 0, stream, params,
           false, product);
  }
  if (basis_product.mu != nullptr || basis_product.Sigma != nullptr) {
    const DensityTangentArrays<double> of_function{basis_product.mu, basis_product.Sigma, nullptr};
    launch(kWhere, product_kernel, grid_of(kWhere, psi.count), dim3(kSpaceThreads), 0, stream, params, true,
           of_function);
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
