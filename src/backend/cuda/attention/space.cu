#include "backend/cuda/attention/space.hpp"

#include "backend/cuda/attention/any_arrays.cuh"
#include "backend/cuda/attention/space_launch.cuh"

/// Values and their tangents, which each pair has for itself.
namespace fenchel::cuda {
namespace {

using device::Dimension, device::Family, device::SpaceRow, device::SpaceSlopes, device::Wanted;

/// Calls body(row, i, j) for all pairs of a block, in the order of its threads.
template <int kD, class Densities, class Body>
__device__ void for_each_pair(const Densities& p, const FunctionArrays& psi, int rows_per_block,
                              const Body& body) {
  __shared__ SpaceRow<kD> rows[kMostSpaceRows];
  const Dimension<kD> d{static_cast<int>(psi.dimension)};
  const index_t first = static_cast<index_t>(blockIdx.x) * rows_per_block;
  const int count = static_cast<int>(min(static_cast<index_t>(rows_per_block), p.rows - first));
  device::load_rows(rows, p, d, first, count);
  for (index_t k = threadIdx.x; k < count * psi.count; k += blockDim.x) {
    const index_t row = k / psi.count;
    body(rows[row], d, first + row, k - row * psi.count);
  }
}

template <class Real, int kD, Family kFamily>
__global__ void __launch_bounds__(kSpaceThreads)
    attend_kernel(DensityArrays<Real> p, FunctionArrays psi, Real* r, int rows_per_block) {
  for_each_pair<kD>(p, psi, rows_per_block, [&](const auto& row, auto d, index_t i, index_t j) {
    SpaceSlopes<kD> slopes;
    device::attend_pair<Real, kD, Wanted::kValues, kFamily>(row, psi, d, j, kAccuracyOf<Real>, slopes);
    r[i * psi.count + j] = static_cast<Real>(slopes.value);
  });
}

/// In any dimension: what is differentiated in this direction is seldom what takes the time.
__global__ void __launch_bounds__(kSpaceThreads)
    attend_jvp_kernel(DensitiesIn<AnyArray> p, FunctionArrays psi, TangentsIn<AnyArray> direction,
                      BasisTangentArrays<const double> basis_direction, AnyArray tangent,
                      int rows_per_block) {
  for_each_pair<0>(p, psi, rows_per_block, [&](const auto& row, auto d, index_t i, index_t j) {
    SpaceSlopes<0> slopes;
    device::attend_pair<double, 0, Wanted::kAll, Family::kAny>(row, psi, d, j, p.mu.accuracy(), slopes);
    double sum = 0;
    for (int a = 0, k = 0; a < d; ++a) {
      double along = direction.mu[i * d + a];
      if (basis_direction.mu != nullptr) along -= basis_direction.mu[j * d + a];
      sum += along * slopes.by_mu[a];
      for (int b = 0; b <= a; ++b, ++k) {
        const auto entry = [a, b, d](const auto& matrices, index_t at) {
          const double lower = matrices[(at * d + a) * d + b];
          return a == b ? lower : lower + matrices[(at * d + b) * d + a];
        };
        sum += slopes.by_scale[k] * entry(direction.Sigma, i);
        if (basis_direction.Sigma != nullptr) {
          sum += slopes.by_covariance[k] * entry(basis_direction.Sigma, j);
        }
      }
    }
    if (direction.alpha.given()) sum += slopes.by_alpha * direction.alpha[i];
    tangent.set(i * psi.count + j, sum);
  });
}

}  // namespace

template <class Real>
void attend_space(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend";
  const int rows = space_rows(p.rows);
  with_dimension(kWhere, psi.dimension, [&](auto dimension) {
    with_family<dimension()>(p.alpha, [&](auto family) {
      launch(kWhere, attend_kernel<Real, dimension(), family()>, space_grid(kWhere, p.rows, rows),
             dim3(kSpaceThreads), 0, stream, p, psi, r, rows);
    });
  });
}

template <class Real>
void attend_jvp_space(const DensityArrays<Real>& p, const FunctionArrays& psi,
                      const DensityTangentArrays<const Real>& direction,
                      const BasisTangentArrays<const double>& basis_direction, Real* tangent, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_jvp";
  check_dimension(kWhere, psi.dimension, Dimension<0>::kMost);
  const int rows = space_rows(p.rows);
  launch(kWhere, attend_jvp_kernel, space_grid(kWhere, p.rows, rows), dim3(kSpaceThreads), 0, stream, p, psi,
         direction, basis_direction, tangent, rows);
}

template void attend_space(const DensityArrays<float>&, const FunctionArrays&, float*, Stream);
template void attend_space(const DensityArrays<double>&, const FunctionArrays&, double*, Stream);
template void attend_jvp_space(const DensityArrays<float>&, const FunctionArrays&,
                               const DensityTangentArrays<const float>&,
                               const BasisTangentArrays<const double>&, float*, Stream);
template void attend_jvp_space(const DensityArrays<double>&, const FunctionArrays&,
                               const DensityTangentArrays<const double>&,
                               const BasisTangentArrays<const double>&, double*, Stream);

}  // namespace fenchel::cuda
