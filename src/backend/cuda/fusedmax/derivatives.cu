#include <limits>

#include "backend/cuda/device/fusedmax/plateaus.cuh"
#include "backend/cuda/fusedmax/checks.hpp"
#include "backend/cuda/launch.cuh"
#include "fenchel/backend/cuda/fusedmax.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {
namespace {

using device::ProductViews;

/// Threads of a block: some groups that are a warp each, or one.
template <int kThreads>
constexpr int kBlock = kThreads < 128 ? 128 : kThreads;

template <int kThreads, class T>
__global__ void __launch_bounds__(kBlock<kThreads>)
    plateau_product_kernel(const __grid_constant__ ProductViews<T> views, const PerRow gammas,
                           const double* d_gamma, double* grad_gamma) {
  using Real = Computed<T>;
  constexpr int kGroups = kBlock<kThreads> / kThreads;
  __shared__ device::PlateauMemory<kThreads> memory[kGroups];
  const int group = static_cast<int>(threadIdx.x) / kThreads, rank = static_cast<int>(threadIdx.x) % kThreads;
  const index_t i = index_t{blockIdx.x} * kGroups + group;
  if (i >= views.p.rows) return;
  const double gamma = gammas[i];
  const device::StoredRow<T> row(device::RowAt<T>{views, i});
  device::PlateauProduct<kThreads, device::StoredRow<T>> product(row, d_gamma == nullptr ? 0.0 : d_gamma[i],
                                                                 memory[group]);
  double along = std::numeric_limits<double>::quiet_NaN();
  if (row.p(0) == row.p(0) && gamma >= 0 && gamma < kInfinity) {
    along = product.write(gamma > 0);
  } else {
    product.fill(std::numeric_limits<Real>::quiet_NaN());
  }
  if (grad_gamma != nullptr && rank == 0) grad_gamma[i] = along;
}

template <int kThreads, class T>
void launch_groups(std::string_view where, const ProductViews<T>& views, PerRow gamma, const double* d_gamma,
                   double* grad_gamma, Stream stream) {
  constexpr index_t kGroups = kBlock<kThreads> / kThreads;
  launch(where, plateau_product_kernel<kThreads, T>, grid_of(where, (views.p.rows + kGroups - 1) / kGroups),
         dim3(kBlock<kThreads>), 0, stream, views, gamma, d_gamma, grad_gamma);
}

template <class T>
void run(std::string_view where, const ProductViews<T>& views, std::string_view v, std::string_view out,
         PerRow gamma, std::span<const double> direction, std::span<double> gradient, Stream stream) {
  check_view(where, "p", views.p);
  check_same_shape(where, v, views.v, "p", views.p);
  check_same_shape(where, out, views.out, "p", views.p);
  check_gamma(where, gamma, views.p.rows);
  check_numbers(where, "gamma_direction", direction.size(), views.p.rows);
  check_numbers(where, "gamma_gradient", gradient.size(), views.p.rows);
  if (views.p.rows == 0) return;
  constexpr index_t kWarpColumns = 1024;
  if (views.p.cols <= kWarpColumns) {
    launch_groups<device::kWarp, T>(where, views, gamma, direction.data(), gradient.data(), stream);
  } else {
    launch_groups<256, T>(where, views, gamma, direction.data(), gradient.data(), stream);
  }
}

}  // namespace

template <class T>
void fusedmax_vjp(Input<T> p, PerRow gamma, Input<T> cotangent, DeviceRows<T> gradient,
                  std::span<double> gamma_gradient, Stream stream) {
  run<T>("cuda::fusedmax_vjp", {p, cotangent, gradient}, "cotangent", "gradient", gamma, {}, gamma_gradient,
         stream);
}

template <class T>
void fusedmax_jvp(Input<T> p, PerRow gamma, Input<T> direction, std::span<const double> gamma_direction,
                  DeviceRows<T> tangent, Stream stream) {
  run<T>("cuda::fusedmax_jvp", {p, direction, tangent}, "direction", "tangent", gamma, gamma_direction, {},
         stream);
}

template void fusedmax_vjp(Input<double>, PerRow, Input<double>, DeviceRows<double>, std::span<double>,
                           Stream);
template void fusedmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, DeviceRows<double>,
                           Stream);
template void fusedmax_vjp(Input<float>, PerRow, Input<float>, DeviceRows<float>, std::span<double>, Stream);
template void fusedmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, DeviceRows<float>,
                           Stream);
template void fusedmax_vjp(Input<Half>, PerRow, Input<Half>, DeviceRows<Half>, std::span<double>, Stream);
template void fusedmax_jvp(Input<Half>, PerRow, Input<Half>, std::span<const double>, DeviceRows<Half>,
                           Stream);
template void fusedmax_vjp(Input<BFloat16>, PerRow, Input<BFloat16>, DeviceRows<BFloat16>, std::span<double>,
                           Stream);
template void fusedmax_jvp(Input<BFloat16>, PerRow, Input<BFloat16>, std::span<const double>,
                           DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
