#include "backend/weighted_entmax/loss.hpp"

#include "backend/cuda/entmax/targets.hpp"
#include "backend/cuda/weighted_entmax/rows.cuh"
#include "core/normalizer_solver.hpp"

namespace fenchel::cuda {
namespace {

/// Targets of a row: a class, or a distribution.
struct AnyTarget {
  device::AnyRow soft;
  index_t label;
  bool is_soft, ignored;

  __device__ AnyTarget(const device::AnyRows& distributions, const RowTargets& targets, index_t i)
      : soft(distributions.row(i)),
        label(targets.classes != nullptr ? targets.classes[i] : -1),
        is_soft(targets.classes == nullptr),
        ignored(targets.is_ignored(i)) {}
  [[nodiscard]] __device__ double operator()(index_t j) const {
    return is_soft ? soft.get(j) : j == label ? 1.0 : 0.0;
  }
  /// Whether the row has a target; the threads of a team agree.
  template <class Columns>
  [[nodiscard]] __device__ bool exists(Columns& columns, index_t cols) const {
    if (!is_soft) return label >= 0 && label < cols;
    return columns
               .template smallest<1>(
                   [&](index_t j) { return detail::Totals<1>{{(*this)(j) >= 0 ? 0.0 : -1.0}}; })
               .of[0] == 0;
  }
};

struct LossViews {
  device::AnyRows scores, weights, soft, loss;
  RowTargets targets;
  AnyGradient gradient;
};

/// The type that a prediction is rounded to before it is compared with a target.
__device__ double rounded(const device::AnyRow& like, double x) {
  return like.type == device::StoredAs::f64 ? x : double{static_cast<float>(x)};
}

template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    loss_kernel(const __grid_constant__ LossViews views, const PerRow alphas) {
  Team team;
  team.meet();
  const index_t i = team.row(), cols = views.scores.cols;
  if (i >= views.scores.rows) return;
  device::TeamColumns<Team> columns(team, cols);
  const AnyTarget q(views.soft, views.targets, i);
  const AnyGradientRow write(views.gradient, i);
  const device::AnyRow scores = views.scores.row(i), loss = views.loss.row(i);
  const double alpha = alphas[i];
  const AnyAtoms atoms = atoms_of(columns, scores, views.weights.row(i), alpha);
  detail::Totals<2> sums{};  // the loss and its slope in alpha
  if (q.ignored || isnan(atoms.top) || !q.exists(columns, cols)) {
    const double value = q.ignored ? 0.0 : std::numeric_limits<double>::quiet_NaN();
    columns.each([&](index_t j) { write(j, value, value); });
    sums = {{value, value}};
  } else {
    detail::normalize_atoms(
        alpha - 1, columns, atoms, [&](const auto& densities, const Normalization& normalization) {
          const double mass = columns
                                  .template sum<1>([&](index_t j) {
                                    return detail::Totals<1>{{atoms.w(j) * densities(atoms.d(j))}};
                                  })
                                  .of[0];
          sums = columns.template sum<2>([&](index_t j) {
            const double w = atoms.w(j), d = atoms.d(j), p = rounded(scores, w * densities(d) / mass);
            const detail::LossNode node{alpha - 1, w, q(j), p, d - normalization.offset, views.targets.cross};
            write(j, p - node.q, node.in_weight());
            return detail::Totals<2>{{node.loss(), views.gradient.alpha == nullptr ? 0.0 : node.in_alpha()}};
          });
        });
  }
  if (!columns.first()) return;
  if (views.loss.exists()) loss.set(0, sums.of[0]);
  if (views.gradient.alpha != nullptr) views.gradient.alpha[i] = sums.of[1];
}

struct CurvatureViews {
  device::AnyRows residual, weights, soft;
  RowTargets targets;
  AnyDirection direction;
  AnyGradient product;
};

/// Weights and probabilities, from the residual and the target.
struct ResidualNodes {
  device::AnyRow weights, residual;
  const AnyTarget& q;

  [[nodiscard]] __device__ double w(index_t j) const { return weights.get(j); }
  [[nodiscard]] __device__ double mass(index_t j) const { return rounded(residual, residual.get(j) + q(j)); }
};

template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    curvature_kernel(const __grid_constant__ CurvatureViews views, const PerRow alphas) {
  Team team;
  team.meet();
  const index_t i = team.row(), cols = views.residual.cols;
  if (i >= views.residual.rows) return;
  device::TeamColumns<Team> columns(team, cols);
  const AnyTarget q(views.soft, views.targets, i);
  const AnyGradientRow write(views.product, i);
  const double alpha = alphas[i];
  double in_alpha = q.ignored ? 0.0 : std::numeric_limits<double>::quiet_NaN();
  if (q.ignored || !(alpha > 0) || !q.exists(columns, cols)) {
    columns.each([&](index_t j) { write(j, in_alpha, in_alpha); });
  } else {
    in_alpha = detail::weighted_curvature(alpha - 1, views.targets.cross, columns,
                                          ResidualNodes{views.weights.row(i), views.residual.row(i), q}, q,
                                          AnyDirectionRow(views.direction, i, alpha), write);
  }
  if (views.product.alpha != nullptr && columns.first()) views.product.alpha[i] = in_alpha;
}

template <class Real, class Targets>
void run(std::string_view where, DeviceRows<const Real> scores, DeviceRows<const Real> weights, PerRow alpha,
         const Targets& targets, bool cross, const WeightedLossOutputs<Real>& outputs, Stream stream) {
  check_view(where, "scores", scores);
  check_same_shape(where, "weights", weights, "scores", scores);
  check_alpha(where, alpha, scores.rows);
  check_targets(where, targets, "scores", scores);
  check_numbers(where, "loss", outputs.loss.size(), scores.rows);
  check_nodes(where, "gradient", outputs.gradient, "scores", scores);
  if (scores.rows == 0) return;
  const LossViews views{scores,
                        weights,
                        distributions<Real>(targets),
                        DeviceRows<Real>(outputs.loss.data(), scores.rows, 1),
                        row_targets(targets, cross),
                        AnyGradient(outputs.gradient)};
  with_node_team(scores.cols, [&]<class Team>() {
    launch_teams<Team>(where, loss_kernel<Team>, scores.rows, stream, views, alpha);
  });
}

template <class Real, class Targets>
void run_curvature(std::string_view where, DeviceRows<const Real> residual, DeviceRows<const Real> weights,
                   PerRow alpha, const Targets& targets, bool cross, const NodeDirection<Real>& direction,
                   const NodeGradient<Real>& product, Stream stream) {
  check_view(where, "residual", residual);
  check_same_shape(where, "weights", weights, "residual", residual);
  check_alpha(where, alpha, residual.rows);
  check_targets(where, targets, "residual", residual);
  check_nodes(where, "direction", direction, "residual", residual);
  check_nodes(where, "product", product, "residual", residual);
  if (residual.rows == 0) return;
  const CurvatureViews views{residual,
                             weights,
                             distributions<Real>(targets),
                             row_targets(targets, cross),
                             AnyDirection(direction),
                             AnyGradient(product)};
  with_node_team(residual.cols, [&]<class Team>() {
    launch_teams<Team>(where, curvature_kernel<Team>, residual.rows, stream, views, alpha);
  });
}

}  // namespace

/// A loss and its curvature, for one kind of targets.
#define FENCHEL_LOSS(name, cross, ...)                                                                       \
  template <class Real>                                                                                      \
  void name(Input<Real> scores, Input<Real> weights, PerRow alpha, const __VA_ARGS__& targets,               \
            const WeightedLossOutputs<Real>& outputs, Stream stream) {                                       \
    run<Real>("cuda::" #name, scores, weights, alpha, targets, cross, outputs, stream);                      \
  }                                                                                                          \
  template <class Real>                                                                                      \
  void name##_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha, const __VA_ARGS__& targets, \
                        const std::type_identity_t<NodeDirection<Real>>& direction,                          \
                        const NodeGradient<Real>& product, Stream stream) {                                  \
    run_curvature<Real>("cuda::" #name "_curvature", residual, weights, alpha, targets, cross, direction,    \
                        product, stream);                                                                    \
  }
FENCHEL_LOSS(weighted_entmax_loss, false, ClassTargets)
FENCHEL_LOSS(weighted_entmax_loss, false, std::type_identity_t<SoftTargets<Real>>)
FENCHEL_LOSS(weighted_cross_omega, true, ClassTargets)
FENCHEL_LOSS(weighted_cross_omega, true, std::type_identity_t<SoftTargets<Real>>)
#undef FENCHEL_LOSS

#define FENCHEL_INSTANTIATE(name, Real, Targets)                                         \
  template void name<Real>(Input<Real>, Input<Real>, PerRow, const Targets&,             \
                           const WeightedLossOutputs<Real>&, Stream);                    \
  template void name##_curvature<Real>(Input<Real>, Input<Real>, PerRow, const Targets&, \
                                       const NodeDirection<Real>&, const NodeGradient<Real>&, Stream);
FENCHEL_INSTANTIATE(weighted_entmax_loss, float, ClassTargets)
FENCHEL_INSTANTIATE(weighted_entmax_loss, float, SoftTargets<float>)
FENCHEL_INSTANTIATE(weighted_cross_omega, float, ClassTargets)
FENCHEL_INSTANTIATE(weighted_cross_omega, float, SoftTargets<float>)
FENCHEL_INSTANTIATE(weighted_entmax_loss, double, ClassTargets)
FENCHEL_INSTANTIATE(weighted_entmax_loss, double, SoftTargets<double>)
FENCHEL_INSTANTIATE(weighted_cross_omega, double, ClassTargets)
FENCHEL_INSTANTIATE(weighted_cross_omega, double, SoftTargets<double>)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
