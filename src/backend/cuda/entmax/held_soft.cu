#include "backend/cuda/entmax/loss_terms.cuh"
#include "backend/cuda/entmax/rows.cuh"

namespace fenchel::cuda {
namespace device {
namespace {

/// Does a LossTask for distributions with a row in registers, but for slopes.
template <class Real>
struct DoSoftTask {
  static constexpr Use kUse = Use::soft;
  struct Nothing {};

  LossTask<Real> task;

  /// The targets, which are read when a row is solved, come nearer.
  template <class Team>
  __device__ Nothing load(index_t i, const Team& team) const {
    constexpr index_t kLine = 128 / sizeof(Real);
    const AnyRow row = task.soft.row(i);
    const Real* const from = static_cast<const Real*>(row.data);
    for (index_t j = team.rank() * kLine; row.step == 1 && j < task.soft.cols; j += Team::kSize * kLine) {
      asm volatile("prefetch.global.L2 [%0];" ::"l"(from + j));
    }
    return {};
  }

  template <class Row, class Team, class Prediction, class WhenSolved>
  __device__ void operator()(Row& row, Team& team, const ScoredRow<Real>& scored, Nothing,
                             Prediction& prediction, const WhenSolved&) const {
    const Solution<Prediction, Row, Team, kUse> solution(prediction, row, team, scored.valid, {});
    const SoftColumns<typename Prediction::Power> columns(prediction, solution.tally().value);
    const AnyRow soft = task.soft.row(scored.i);
    double loss = 0;
    row.compute_anew();
#pragma unroll
    for (int v = 0; v < Row::kPacks; ++v) {
      const auto d = row.values(v), q = row.beside(soft, v);
      Real sum = 0;
#pragma unroll
      for (int e = 0; e < Row::kSize; ++e) {
        const bool masked = !(d.values[e] > kMasked<Real>)&&q.values[e] > 0;
        sum += masked ? -kLowest<Real> : columns(d.values[e], q.values[e], task.targets.cross).loss;
        if (!(q.values[e] >= 0)) sum = std::numeric_limits<Real>::quiet_NaN();
      }
      loss += sum;
    }
    loss = team.reduce(loss, Plus());
    if (!scored.wanted) return;
    if (!scored.valid) loss = std::numeric_limits<double>::quiet_NaN();
    const bool ignored = task.targets.is_ignored(scored.i);
    if (task.loss != nullptr && team.rank() == 0) {
      task.loss[scored.i] = ignored ? Real(0) : static_cast<Real>(loss);
    }
    if (!task.residual.exists()) return;
    const Real given = task.weights == nullptr ? Real(1) : task.weights[scored.i];
    const Real weight = ignored ? Real(0) : loss == loss ? given : static_cast<Real>(loss);
    row.compute_anew();
    row.template write<false>(task.residual.row(scored.i), [&](int v) {
      auto x = row.values(v);
      const auto q = row.beside(soft, v);
#pragma unroll
      for (int e = 0; e < Row::kSize; ++e) {
        const Real residual = columns(x.values[e], q.values[e], false).p - q.values[e];
        x.values[e] = ignored ? Real(0) : weight * residual;
      }
      return x;
    });
  }
};

}  // namespace
}  // namespace device

template <class T>
bool launch_held_soft(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                      const LossTask<Computed<T>>& task, Stream stream) {
  using device::Kind;
  const device::DoSoftTask<T> do_task{task};
  switch (kind_of(alpha)) {
    case Kind::softmax:
      return launch_kind<Kind::softmax, true>(where, z, alpha, do_task, stream);
    case Kind::sparsemax:
      return launch_kind<Kind::sparsemax, true>(where, z, alpha, do_task, stream);
    case Kind::three_halves:
      return launch_kind<Kind::three_halves, true>(where, z, alpha, do_task, stream);
    default:
      return false;
  }
}

template bool launch_held_soft(std::string_view, const DeviceRows<const float>&, PerRow,
                               const LossTask<float>&, Stream);
template bool launch_held_soft(std::string_view, const DeviceRows<const double>&, PerRow,
                               const LossTask<double>&, Stream);

}  // namespace fenchel::cuda
