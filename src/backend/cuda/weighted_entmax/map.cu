#include "backend/cuda/weighted_entmax/rows.cuh"
#include "core/normalizer_solver.hpp"

namespace fenchel::cuda {
namespace {

struct MapViews {
  device::AnyRows scores, weights, p;
};

template <class Team>
__global__ void __launch_bounds__(Team::kBlockThreads)
    map_kernel(const __grid_constant__ MapViews views, const PerRow alphas) {
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= views.p.rows) return;
  device::TeamColumns<Team> columns(team, views.p.cols);
  const device::AnyRow out = views.p.row(i);
  const double alpha = alphas[i];
  const AnyAtoms atoms = atoms_of(columns, views.scores.row(i), views.weights.row(i), alpha);
  if (isnan(atoms.top)) return columns.each([&](index_t j) { out.set(j, atoms.top); });
  detail::normalize_atoms(alpha - 1, columns, atoms, [&](const auto& densities, Normalization) {
    const double mass = columns
                            .template sum<1>([&](index_t j) {
                              return detail::Totals<1>{{atoms.w(j) * densities(atoms.d(j))}};
                            })
                            .of[0];
    columns.each([&](index_t j) { out.set(j, atoms.w(j) * densities(atoms.d(j)) / mass); });
  });
}

}  // namespace

template <class T>
void weighted_entmax(Input<T> scores, Input<T> weights, PerRow alpha, DeviceRows<T> p, Stream stream) {
  constexpr std::string_view kWhere = "cuda::weighted_entmax";
  check_view(kWhere, "scores", scores);
  check_same_shape(kWhere, "weights", weights, "scores", scores);
  check_same_shape(kWhere, "p", p, "scores", scores);
  check_alpha(kWhere, alpha, scores.rows);
  if (scores.rows == 0) return;
  const MapViews views{scores, weights, p};
  with_node_team(scores.cols, [&]<class Team>() {
    launch_teams<Team>(kWhere, map_kernel<Team>, scores.rows, stream, views, alpha);
  });
}

template void weighted_entmax(Input<double>, Input<double>, PerRow, DeviceRows<double>, Stream);
template void weighted_entmax(Input<float>, Input<float>, PerRow, DeviceRows<float>, Stream);
template void weighted_entmax(Input<Half>, Input<Half>, PerRow, DeviceRows<Half>, Stream);
template void weighted_entmax(Input<BFloat16>, Input<BFloat16>, PerRow, DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
