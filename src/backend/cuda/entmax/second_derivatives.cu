#include "fenchel/backend/cuda/entmax_derivatives.hpp"

#include <limits>

#include "backend/cuda/device/product_rows.cuh"
#include "backend/cuda/device/sums.cuh"
#include "backend/cuda/row_launch.cuh"
#include "backend/entmax/terms.hpp"

namespace fenchel::cuda {
namespace {

/// Of any type: all is computed in double.
struct SecondOrderViews {
  device::AnyRows p, grad_p, weight, out;
  const double* weight_alpha;
  double* grad_alpha;
};

/// Terms far from the loops that need them: each has as many instructions as all of a loop.
__device__ __noinline__ detail::SecondOrderTerm second_order_term(double am1, double w_alpha, double p) {
  return detail::SecondOrderTerm::of(am1, w_alpha, p);
}
__device__ __noinline__ double shifted_weight(const detail::SecondOrderTerm& term, double w) {
  return term.shifted(w);
}
__device__ __noinline__ double along_term(const detail::SecondOrderTerm& term, double y, double x) {
  return term.along(y, x);
}

/// One row in double, read three times: for y and x, for the sum of s b, and to write, as on the CPU
/// (src/backend/cpu/entmax/derivatives.cpp).
template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    second_order_kernel(const __grid_constant__ SecondOrderViews views, const PerRow alphas) {
  using device::Sums, device::PlusEach, detail::SecondOrderTerm;
  Team team;
  team.meet();
  const index_t i = team.row(), cols = views.p.cols;
  if (i >= views.p.rows) return;
  const device::AnyRow p = views.p.row(i), g = views.grad_p.row(i), w = views.weight.row(i),
                       out = views.out.row(i);
  const double alpha = alphas[i], am1 = alpha - 1;
  const double w_alpha = views.weight_alpha == nullptr ? 0.0 : views.weight_alpha[i];
  const auto each = [&](auto body) {
#pragma unroll 1
    for (index_t j = team.rank(); j < cols; j += Team::kSize) body(j);
  };

  if (!(alpha > 0 && alpha <= std::numeric_limits<double>::max())) {
    const double factor = alpha > 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    each([&](index_t j) { out.set(j, p.get(j) * factor); });  // NaN stays
    if (team.rank() == 0 && views.grad_alpha != nullptr) views.grad_alpha[i] = factor;
    return;
  }
  Sums<3> sums{};  // of s, s g, s (w - w_alpha D)
  each([&](index_t j) {
    const SecondOrderTerm term = second_order_term(am1, w_alpha, p.get(j));
    if (term.s == 0) return;
    sums.of[0] += term.s;
    sums.of[1] += term.s * g.get(j);
    sums.of[2] += term.s * shifted_weight(term, w.get(j));
  });
  sums = team.reduce(sums, PlusEach());
  const double g_mean = sums.of[1] / sums.of[0], w_mean = sums.of[2] / sums.of[0];
  double along = 0, sum = 0;
  each([&](index_t j) {
    const SecondOrderTerm term = second_order_term(am1, w_alpha, p.get(j));
    if (term.s == 0) return;
    const double y = term.s * (g.get(j) - g_mean);
    const double x = term.s * (shifted_weight(term, w.get(j)) - w_mean);
    if (views.grad_alpha != nullptr) along -= along_term(term, y, x);
    sum += term.bend(y, x);
  });
  const double mean = team.reduce(sum, device::Plus()) / sums.of[0];
  each([&](index_t j) {
    const SecondOrderTerm term = second_order_term(am1, w_alpha, p.get(j));
    double value = 0;
    if (term.s != 0) {
      const double y = term.s * (g.get(j) - g_mean);
      const double x = term.s * (shifted_weight(term, w.get(j)) - w_mean);
      value = term.bend(y, x) - term.s * mean;
      if (views.grad_alpha != nullptr) along -= value * device::alpha_direction(alpha, term.p);
    }
    out.set(j, value);
  });
  if (views.grad_alpha == nullptr) return;
  along = team.reduce(along, device::Plus());
  if (team.rank() == 0) views.grad_alpha[i] = along;
}

}  // namespace

template <class T>
void entmax_vjp_vjp(Input<T> p, PerRow alpha, Input<T> cotangent, Input<T> direction,
                    std::span<const double> alpha_direction, DeviceRows<T> product,
                    std::span<double> alpha_product, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax_vjp_vjp";
  check_view(kWhere, "p", p);
  check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  check_same_shape(kWhere, "direction", direction, "p", p);
  check_same_shape(kWhere, "product", product, "p", p);
  check_alpha(kWhere, alpha, p.rows);
  check_numbers(kWhere, "alpha_direction", alpha_direction.size(), p.rows);
  check_numbers(kWhere, "alpha_product", alpha_product.size(), p.rows);
  if (p.rows == 0) return;
  const SecondOrderViews views{
      p, cotangent, direction, product, alpha_direction.data(), alpha_product.data()};
  with_reading_team(p.cols, [&]<class Team>() {
    launch_teams<Team>(kWhere, second_order_kernel<Team>, p.rows, stream, views, alpha);
  });
}

template void entmax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>, std::span<const double>,
                             DeviceRows<double>, std::span<double>, Stream);
template void entmax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>, std::span<const double>,
                             DeviceRows<float>, std::span<double>, Stream);
template void entmax_vjp_vjp(Input<Half>, PerRow, Input<Half>, Input<Half>, std::span<const double>,
                             DeviceRows<Half>, std::span<double>, Stream);
template void entmax_vjp_vjp(Input<BFloat16>, PerRow, Input<BFloat16>, Input<BFloat16>,
                             std::span<const double>, DeviceRows<BFloat16>, std::span<double>, Stream);

}  // namespace fenchel::cuda
