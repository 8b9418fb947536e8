#include "backend/cuda/device/entmax/solver.cuh"
#include "backend/cuda/entmax/loss_terms.cuh"
#include "backend/cuda/entmax/tasks.hpp"
#include "backend/cuda/launch.cuh"
#include "backend/cuda/row_launch.cuh"

/// Rows that are read at each visit: too long for registers, across memory, of alpha > 2, or with slopes.
namespace fenchel::cuda {
namespace device {
namespace {

/// The sum of E over a row whose prediction is solved.
template <class Row, class Team, class Prediction>
__device__ double sum_of_powers(const Row& row, Team& team, const Prediction& prediction) {
  CarefulSums<TwoPowerSums<double>> sums;
  row.for_each([&](auto d, index_t) { sums.add({prediction.value(d), 0}); });
  return team.reduce(sums.sums().value, Plus());
}

/// Writes p of a row whose prediction is solved, if it is valid.
template <class Real>
struct WriteMap {
  AnyRows p;

  template <class Row, class Team, class Prediction>
  __device__ void operator()(const Row& row, Team& team, index_t i, double, const Prediction& prediction,
                             bool valid, bool wanted) const {
    const double sum = sum_of_powers(row, team, prediction);
    const Real scale = valid ? static_cast<Real>(1 / sum) : std::numeric_limits<Real>::quiet_NaN();
    if (wanted) row.write(p.row(i), [&](Real d, index_t) { return scale * prediction.value(d); });
  }
};

/// Sums over a row: of E^alpha where there is no target, of what columns with one add to the loss, and of the
/// derivative in alpha.
struct alignas(16) LossSums {
  double without_target = 0, loss = 0, slope = 0;

  __device__ LossSums operator+(const LossSums& other) const {
    return {without_target + other.without_target, loss + other.loss, slope + other.slope};
  }
  __device__ LossSums shuffled(int distance) const {
    return {device::shuffled(without_target, distance), device::shuffled(loss, distance),
            device::shuffled(slope, distance)};
  }
};

/// Does a LossTask with such a row.
template <class Real>
struct WriteLoss {
  LossTask<Real> task;
  index_t cols;

  template <class Row, class Team, class Prediction>
  __device__ void operator()(const Row& row, Team& team, index_t i, double am1, const Prediction& prediction,
                             bool valid, bool wanted) const {
    const RowTargets& targets = task.targets;
    const bool soft = targets.classes == nullptr, ignored = targets.is_ignored(i);
    const index_t label = soft ? -1 : targets.classes[i];
    const bool known = valid && (soft || (label >= 0 && label < cols));
    const double total = sum_of_powers(row, team, prediction);
    const double scale = known ? 1 / total : nan("");
    const PredictedRow predicted(am1, scale * double{prediction.value(Real(0))});
    const auto q_of = [&](index_t j) {
      return soft ? task.soft.row(i).template as<Real>(j) : (j == label ? Real(1) : Real(0));
    };
    LossSums sums;
    row.for_each([&](Real d, index_t j) {
      const Real e = prediction.value(d), q = q_of(j);
      if (q == 0) sums.without_target += prediction.powered(e);
      if (q != 0) {
        const bool cross = targets.cross && soft;
        sums.loss += q > 0 ? predicted.term(d, double{q}, scale * double{e}, cross) : nan("");
      }
      if (task.slope == nullptr) return;
      sums.slope -= entropy_slope(am1, scale * double{e});
      if (soft && !targets.cross) sums.slope += entropy_slope(am1, double{q});
    });
    sums = team.reduce(sums, Plus());
    if (!wanted) return;
    const double loss = sums.loss + sums.without_target * predicted.scale_power(scale) + 0 * scale;
    if (team.rank() == 0) {
      if (task.loss != nullptr) task.loss[i] = static_cast<Real>(ignored ? 0.0 : loss);
      if (task.slope != nullptr) task.slope[i] = ignored ? 0.0 : sums.slope + 0 * scale;
    }
    if (!task.residual.exists()) return;
    const Real weight = task.weights == nullptr ? Real(1) : task.weights[i];
    const auto real_scale = static_cast<Real>(loss == loss ? scale : loss);
    row.write(task.residual.row(i), [&](Real d, index_t j) {
      return ignored ? Real(0) : weight * (real_scale * prediction.value(d) - q_of(j));
    });
  }
};

template <class Team, class Row, Kind kKind, class DoTask>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_reading_kernel(const __grid_constant__ AnyRows scores, const PerRow alpha,
                          const __grid_constant__ DoTask do_task) {
  using Real = typename Row::Real;
  Team team;
  const bool in_batch = team.row() < scores.rows;
  const index_t i = in_batch ? team.row() : scores.rows - 1;
  Row row(scores.row(i), scores.cols, team.rank());
  team.meet();
  const Real top = team.reduce(row.largest(), Larger());
  const double am1 = kKind == Kind::any ? alpha[i] - 1 : kAm1Of<kKind>;
  const bool here = am1 > -1 && am1 <= 1, valid = abs(top) <= std::numeric_limits<Real>::max() && here;
  row.centre(top);
  Prediction<Real, kKind> prediction(here ? am1 : 1.0, scores.cols);
  solve_in_memory(prediction, row, team, valid);
  do_task(row, team, i, am1, prediction, valid, in_batch && !(am1 > 1));
}

/// Rows of alpha beyond 2.
template <class Team, class Row, class DoTask>
__global__ void __launch_bounds__(Team::kBlockThreads)
    entmax_beyond_two_kernel(const __grid_constant__ AnyRows scores, const PerRow alpha,
                             const __grid_constant__ DoTask do_task) {
  using Real = typename Row::Real;
  Team team;
  team.meet();
  const index_t i = team.row();
  if (i >= scores.rows || !(alpha[i] > 2)) return;
  Row row(scores.row(i), scores.cols, team.rank());
  const Real top = team.reduce(row.largest(), Larger());
  const bool valid = abs(top) <= std::numeric_limits<Real>::max();
  row.centre(top);
  BeyondTwo<Real> prediction(alpha[i] - 1);
  prediction.solve(row, team, valid);
  do_task(row, team, i, alpha[i] - 1, prediction, valid, true);
}

}  // namespace
}  // namespace device

namespace {

using device::Kind;

/// Rows of alpha beyond 2, if there may be some.
template <class Real, class DoTask>
void launch_beyond_two(std::string_view where, const device::AnyRows& z, PerRow alpha, const DoTask& do_task,
                       Stream stream) {
  if (!alpha.per_row() && !(alpha[0] > 2)) return;
  with_reading_team(z.cols, [&]<class Team>() {
    using Row = device::MemoryRow<Real, Team::kSize>;
    launch_teams<Team>(where, device::entmax_beyond_two_kernel<Team, Row, DoTask>, z.rows, stream, z, alpha,
                       do_task);
  });
}

/// Rows whose neighbours lie next to them have a team of their own, with a kernel for each kind of alpha; of
/// others such kernels are for those that are written alone.
template <bool kKinds, class T, class DoTask>
void launch_up_to_two(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                      const DoTask& do_task, Stream stream) {
  const auto launch = [&]<class Team, Kind kKind>() {
    using Row = device::MemoryRow<Computed<T>, Team::kSize>;
    launch_teams<Team>(where, device::entmax_reading_kernel<Team, Row, kKind, DoTask>, z.rows, stream,
                       device::AnyRows(z), alpha, do_task);
  };
  const auto with_kind = [&]<class Team>() {
    const Kind kind = kind_of(alpha);
    if (kind == Kind::softmax) return launch.template operator()<Team, Kind::softmax>();
    if (kind == Kind::sparsemax) return launch.template operator()<Team, Kind::sparsemax>();
    if (kind == Kind::three_halves) return launch.template operator()<Team, Kind::three_halves>();
    launch.template operator()<Team, Kind::any>();
  };
  if (z.step != 1 && z.stride == 1 && z.inner >= device::kWarp) {
    return with_kind.template operator()<device::ColumnTeam<16>>();
  }
  with_reading_team(z.cols, [&]<class Team>() {
    if constexpr (kKinds) {
      with_kind.template operator()<Team>();
    } else {
      launch.template operator()<Team, Kind::any>();
    }
  });
}

}  // namespace

template <class T>
void launch_reading(std::string_view where, const DeviceRows<const T>& z, PerRow alpha, DeviceRows<T> p,
                    bool held, Stream stream) {
  const device::WriteMap<Computed<T>> write{p};
  launch_beyond_two<Computed<T>>(where, z, alpha, write, stream);
  if (!held) launch_up_to_two<true, T>(where, z, alpha, write, stream);
}

template <class T>
void launch_reading(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                    const LossTask<Computed<T>>& task, bool held, Stream stream) {
  const device::WriteLoss<Computed<T>> write{task, z.cols};
  launch_beyond_two<Computed<T>>(where, z, alpha, write, stream);
  if (!held) launch_up_to_two<false, T>(where, z, alpha, write, stream);
}

#define FENCHEL_INSTANTIATE_READING(T)                                                                    \
  template void launch_reading(std::string_view, const DeviceRows<const T>&, PerRow, DeviceRows<T>, bool, \
                               Stream);                                                                   \
  template void launch_reading(std::string_view, const DeviceRows<const T>&, PerRow,                      \
                               const LossTask<Computed<T>>&, bool, Stream);
FENCHEL_INSTANTIATE_READING(double)
FENCHEL_INSTANTIATE_READING(float)
FENCHEL_INSTANTIATE_READING(Half)
FENCHEL_INSTANTIATE_READING(BFloat16)
#undef FENCHEL_INSTANTIATE_READING

}  // namespace fenchel::cuda
