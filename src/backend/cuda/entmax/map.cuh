#pragma once

#include "backend/cuda/entmax/rows.cuh"
#include "fenchel/backend/cuda/entmax.hpp"

namespace fenchel::cuda {

/// p = E / sum E.
template <class T>
struct WriteMap {
  DeviceRows<T> p;
  bool packed;

  template <class Row, class Team, class Prediction>
  __device__ void operator()(Row& row, Team& team, index_t i, typename Row::Real, Prediction& prediction,
                             bool valid, bool wanted) const {
    using Real = typename Row::Real;
    auto sum = device::solve_and_replace(prediction, row, team, valid);
    if constexpr (Prediction::kNormalized) {
      sum = 1;
    } else {
      sum = team.reduce(sum, device::Plus());
    }
    if (!wanted) return;
    const Real scale = valid ? static_cast<Real>(1 / sum) : std::numeric_limits<Real>::quiet_NaN();
    row.write(p.row(i), p.step, packed,
              [&](Real x, typename Row::Place) { return scale * (Row::kKeeps ? x : prediction.value(x)); });
  }
};

template <class T>
void entmax(Input<T> scores, PerRow alpha, DeviceRows<T> p, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax";
  check_view(kWhere, "scores", scores);
  check_same_shape(kWhere, "p", p, "scores", scores);
  check_alpha(kWhere, alpha, scores.rows);
  if (scores.rows == 0) return;
  constexpr Variety kVariety = sizeof(T) == 8   ? Variety::one_kind
                               : sizeof(T) == 4 ? Variety::full
                                                : Variety::fewer_teams;
  launch_entmax_rows<kVariety>(kWhere, ScoreRows<T>{scores, is_packed(scores)}, alpha,
                               WriteMap<T>{p, is_packed(p)}, stream);
}

}  // namespace fenchel::cuda
