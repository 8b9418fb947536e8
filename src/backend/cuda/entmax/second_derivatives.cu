#include "fenchel/backend/cuda/entmax_derivatives.hpp"

#include <limits>

#include "backend/cuda/device/columns.cuh"
#include "backend/cuda/device/product_rows.cuh"
#include "backend/cuda/row_launch.cuh"
#include "backend/entmax/terms.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::cuda {
namespace {

/// Of any type: all is computed in double.
struct SecondOrderViews {
  device::AnyRows p, grad_p, weight, out;
  const double* weight_alpha;
  double* grad_alpha;
};

/// Formulas far from the loops that need them: each has as many instructions as all of a loop.
__device__ __noinline__ double s_of(const detail::SecondOrderRow& row, double p, double l) {
  return row.s(p, l);
}
__device__ __noinline__ double shifted_weight(const detail::SecondOrderRow& row, double w, double l) {
  return row.shifted(w, l);
}
__device__ __noinline__ double along_of(const detail::SecondOrderRow& row, double l, double y, double x) {
  return row.along(l, y, x);
}

/// One row in double, with the same steps as on the CPU (src/backend/cpu/entmax/derivatives.cpp), read anew
/// for each of them.
template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    second_order_kernel(const __grid_constant__ SecondOrderViews views, const PerRow alphas) {
  using device::Sums, device::PlusEach;
  Team team;
  team.meet();
  const index_t i = team.row(), cols = views.p.cols;
  if (i >= views.p.rows) return;
  const device::AnyRow p = views.p.row(i), g = views.grad_p.row(i), w = views.weight.row(i),
                       out = views.out.row(i);
  const double alpha = alphas[i], am1 = alpha - 1;
  const double w_alpha = views.weight_alpha == nullptr ? 0.0 : views.weight_alpha[i];
  const bool in_alpha = views.grad_alpha != nullptr;
  const auto each = [&](auto body) {
#pragma unroll 1
    for (index_t j = team.rank(); j < cols; j += Team::kSize) body(j);
  };

  if (!(alpha > 0 && alpha <= std::numeric_limits<double>::max())) {
    const double factor = alpha > 0 ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    each([&](index_t j) { out.set(j, p.get(j) * factor); });  // NaN stays
    if (team.rank() == 0 && in_alpha) views.grad_alpha[i] = factor;
    return;
  }
  device::TeamColumns<Team> columns(team, cols);
  const auto heaviest_but = [&](index_t other) {  // the column with the largest s
    return columns.first_largest([&](index_t j) {
      const double own = p.get(j);
      return own == 0 || j == other ? -kInfinity : am1 > 1 ? -own : own;
    });
  };
  const index_t k = heaviest_but(-1);
  if (k < 0) {
    each([&](index_t j) { out.set(j, p.get(j) * 0); });  // NaN stays
    if (team.rank() == 0 && in_alpha) views.grad_alpha[i] = p.get(0) * 0;
    return;
  }
  const index_t next = am1 > 1 ? heaviest_but(k) : k;
  const double p_k = p.get(k);
  const auto row = detail::SecondOrderRow::of(am1, w_alpha, p_k, next < 0 ? p_k : p.get(next));
  const double l_k = log(p_k), g_k = g.get(k), w_k = shifted_weight(row, w.get(k), l_k);
  const auto each_other = [&](auto body) {  // body(j, p, l, s, w - w_k)
    each([&](index_t j) {
      const double own = p.get(j);
      if (own == 0 || j == k) return;
      const double l = log(own);
      body(j, own, l, s_of(row, own, l), shifted_weight(row, w.get(j), l) - w_k);
    });
  };
  Sums<3> sums{};  // of s, s (g - g_k), s (w - w_k)
  each_other([&](index_t j, double, double, double s, double x) {
    sums.of[0] += s;
    sums.of[1] += s * (g.get(j) - g_k);
    sums.of[2] += s * x;
  });
  sums = team.reduce(sums, PlusEach());
  const double total = sums.of[0], ratios = 1 + row.ratio * total;
  const double y_k = -sums.of[1] / ratios, x_k = -sums.of[2] / ratios;
  const auto bend = [&](index_t j, double own, double l, double s, double x) {
    return row.bend(own, l, s * (g.get(j) - g_k + row.ratio * y_k), s * (x + row.ratio * x_k));
  };
  Sums<2> parts{};  // of s b, and of the part in alpha that is in the unit of s
  each_other([&](index_t j, double own, double l, double s, double x) {
    parts.of[0] += bend(j, own, l, s, x);
    if (in_alpha) {
      parts.of[1] += along_of(row, l, s * (g.get(j) - g_k + row.ratio * y_k), x + row.ratio * x_k);
    }
  });
  parts = team.reduce(parts, PlusEach());
  const double bends = parts.of[0], mean = (bends + row.bend(p_k, l_k, y_k, x_k)) / ratios;
  const double d_k = in_alpha ? device::alpha_direction(alpha, p_k) : 0.0;
  double along = 0;
  each([&](index_t j) {
    if (p.get(j) == 0) out.set(j, 0);
  });
  each_other([&](index_t j, double own, double l, double s, double x) {
    const double value = bend(j, own, l, s, x) - row.ratio * s * mean;
    if (in_alpha && value != 0) along -= value * (device::alpha_direction(alpha, own) - d_k);
    out.set(j, row.in_numbers(value, out.largest()));
  });
  along = in_alpha ? team.reduce(along, device::Plus()) : 0.0;
  if (k % Team::kSize == team.rank()) {
    out.set(k, row.in_numbers(row.ratio * total * mean - bends, out.largest()));
  }
  if (team.rank() == 0 && in_alpha) {
    views.grad_alpha[i] = row.in_numbers_with(parts.of[1] + along_of(row, l_k, y_k, row.ratio * x_k), along);
  }
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
