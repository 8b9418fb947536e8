#include "backend/weighted_entmax/derivatives.hpp"

#include "backend/cuda/weighted_entmax/rows.cuh"

namespace fenchel::cuda {
namespace {

/// What the three kernels read and write; what one does not need is null.
struct NodeViews {
  device::AnyRows p, weights, cotangent, tangent;
  AnyDirection direction;
  AnyGradient gradient;
};

enum class Wanted { vjp, jvp, vjp_vjp };

template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    derivative_kernel(const __grid_constant__ NodeViews views, const PerRow alphas, const Wanted wanted) {
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= views.p.rows) return;
  device::TeamColumns<Team> columns(team, views.p.cols);
  const AnyNodes nodes{views.weights.row(i), views.p.row(i)};
  const AnyGradientRow write(views.gradient, i);
  const device::AnyRow cotangent = views.cotangent.row(i), tangent = views.tangent.row(i);
  const double alpha = alphas[i], am1 = alpha - 1;
  const AnyDirectionRow direction(views.direction, i, alpha);
  const bool in_alpha = views.gradient.alpha != nullptr;
  const auto g = [&](index_t j) { return cotangent.get(j); };
  const auto set_tangent = [&](index_t j, double x) { AnyGradientRow::set(tangent, j, x); };
  double alpha_part = 0;
  if (!(alpha > 0)) {
    const double nan = alpha_part = std::numeric_limits<double>::quiet_NaN();
    columns.each([&](index_t j) { wanted == Wanted::jvp ? set_tangent(j, nan) : write(j, nan, nan); });
  } else if (wanted == Wanted::vjp) {
    alpha_part = detail::weighted_vjp(am1, in_alpha, columns, nodes, g, write);
  } else if (wanted == Wanted::jvp) {
    detail::weighted_jvp(am1, columns, nodes, direction, set_tangent);
  } else {
    alpha_part = detail::weighted_vjp_vjp(am1, in_alpha, columns, nodes, g, direction, write);
  }
  if (in_alpha && columns.first()) views.gradient.alpha[i] = alpha_part;
}

template <class T>
void run(std::string_view where, const NodeViews& views, Input<T> p, Input<T> weights, PerRow alpha,
         Wanted wanted, Stream stream) {
  check_view(where, "p", p);
  check_same_shape(where, "weights", weights, "p", p);
  check_alpha(where, alpha, p.rows);
  if (p.rows == 0) return;
  with_node_team(p.cols, [&]<class Team>() {
    launch_teams<Team>(where, derivative_kernel<Team>, p.rows, stream, views, alpha, wanted);
  });
}

}  // namespace

template <class T>
void weighted_entmax_vjp(Input<T> p, Input<T> weights, PerRow alpha, Input<T> cotangent,
                         const NodeGradient<T>& gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::weighted_entmax_vjp";
  check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  check_nodes(kWhere, "gradient", gradient, "p", p);
  const NodeViews views{
      p, weights, cotangent, DeviceRows<T>(), AnyDirection(NodeDirection<T>{}), AnyGradient(gradient)};
  run<T>(kWhere, views, p, weights, alpha, Wanted::vjp, stream);
}

template <class T>
void weighted_entmax_jvp(Input<T> p, Input<T> weights, PerRow alpha,
                         const std::type_identity_t<NodeDirection<T>>& direction, DeviceRows<T> tangent,
                         Stream stream) {
  constexpr std::string_view kWhere = "cuda::weighted_entmax_jvp";
  check_nodes(kWhere, "direction", direction, "p", p);
  check_same_shape(kWhere, "tangent", tangent, "p", p);
  const NodeViews views{
      p, weights, DeviceRows<T>(), tangent, AnyDirection(direction), AnyGradient(NodeGradient<T>{})};
  run<T>(kWhere, views, p, weights, alpha, Wanted::jvp, stream);
}

template <class T>
void weighted_entmax_vjp_vjp(Input<T> p, Input<T> weights, PerRow alpha, Input<T> cotangent,
                             const std::type_identity_t<NodeDirection<T>>& direction,
                             const NodeGradient<T>& product, Stream stream) {
  constexpr std::string_view kWhere = "cuda::weighted_entmax_vjp_vjp";
  check_same_shape(kWhere, "cotangent", cotangent, "p", p);
  check_nodes(kWhere, "direction", direction, "p", p);
  check_nodes(kWhere, "product", product, "p", p);
  const NodeViews views{
      p, weights, cotangent, DeviceRows<T>(), AnyDirection(direction), AnyGradient(product)};
  run<T>(kWhere, views, p, weights, alpha, Wanted::vjp_vjp, stream);
}

#define FENCHEL_INSTANTIATE(T)                                                                             \
  template void weighted_entmax_vjp<T>(Input<T>, Input<T>, PerRow, Input<T>, const NodeGradient<T>&,       \
                                       Stream);                                                            \
  template void weighted_entmax_jvp<T>(Input<T>, Input<T>, PerRow, const NodeDirection<T>&, DeviceRows<T>, \
                                       Stream);                                                            \
  template void weighted_entmax_vjp_vjp<T>(Input<T>, Input<T>, PerRow, Input<T>, const NodeDirection<T>&,  \
                                           const NodeGradient<T>&, Stream);
FENCHEL_INSTANTIATE(double)
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(Half)
FENCHEL_INSTANTIATE(BFloat16)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
