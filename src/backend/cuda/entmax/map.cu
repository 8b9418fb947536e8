#include "backend/cuda/entmax/rows.cuh"
#include "fenchel/backend/cuda/entmax.hpp"

namespace fenchel::cuda {
namespace {

/// p = E / sum E.
template <class Real>
struct WriteMap {
  static constexpr device::Use kUse = device::Use::map;
  struct Nothing {};

  device::AnyRows p;

  __device__ Nothing load(index_t) const { return {}; }
  template <class Row, class Team, class Prediction>
  __device__ void held(Row& row, Team& team, index_t i, Real, Nothing, Prediction& prediction, bool valid,
                       bool wanted) const {
    const device::Solution<Prediction, Row, Team, kUse> solution(prediction, row, team, valid);
    if (!wanted) return;
    solution.write(p.row(i), scale_of(solution.tally().value, valid));
  }
  template <class Row, class Team, class Prediction>
  __device__ void read(const Row& row, Team& team, index_t i, Real, Prediction& prediction, bool valid,
                       bool wanted) const {
    double sum = 0;
    row.for_each([&](Real d, index_t) { sum += prediction.value(d); });
    const Real scale = scale_of(team.reduce(sum, device::Plus()), valid);
    if (wanted) row.write(p.row(i), [&](Real d, index_t) { return scale * prediction.value(d); });
  }

 private:
  __device__ static Real scale_of(double sum, bool valid) {
    return valid ? static_cast<Real>(1 / sum) : std::numeric_limits<Real>::quiet_NaN();
  }
};

}  // namespace

template <class T>
void entmax(Input<T> scores, PerRow alpha, DeviceRows<T> p, Stream stream) {
  constexpr std::string_view kWhere = "cuda::entmax";
  check_view(kWhere, "scores", scores);
  check_same_shape(kWhere, "p", p, "scores", scores);
  check_alpha(kWhere, alpha, scores.rows);
  if (scores.rows == 0) return;
  launch_entmax_rows<T>(kWhere, scores, alpha, WriteMap<Computed<T>>{p}, stream);
}

template void entmax(Input<double>, PerRow, DeviceRows<double>, Stream);
template void entmax(Input<float>, PerRow, DeviceRows<float>, Stream);
template void entmax(Input<Half>, PerRow, DeviceRows<Half>, Stream);
template void entmax(Input<BFloat16>, PerRow, DeviceRows<BFloat16>, Stream);

}  // namespace fenchel::cuda
