#pragma once

#include "backend/cuda/entmax/loss_terms.cuh"
#include "backend/cuda/entmax/rows.cuh"

namespace fenchel::cuda {
namespace device {

/// Does a RowTask with a row in registers: one with or without classes where kTaskUse is `classes`, else one
/// without.
template <class Real, Use kTaskUse>
struct DoRowTask {
  static constexpr Use kUse = kTaskUse;

  RowTask<Real> task;
  AnyRows scores;

  /// The class of a row and its score. A class that is no column is -1.
  struct Label {
    int column;
    bool ignored;
    Real score;
  };
  template <class Team>
  [[nodiscard]] __device__ Label load(index_t i, const Team&) const {
    if (!has_classes()) return {-1, false, Real(0)};
    const index_t column = task.classes[i];
    const bool exists = column >= 0 && column < scores.cols, ignored = column == task.ignored;
    if (!exists) return {-1, ignored, Real(0)};
    return {static_cast<int>(column), ignored, scores.row(i).template as<Real>(column)};
  }

  template <class Row, class Team, class Prediction, class WhenSolved>
  __device__ void operator()(Row& row, Team& team, const ScoredRow<Real>& scored, const Label& label,
                             Prediction& prediction, const WhenSolved& when_solved) const {
    const bool has_class = has_classes();
    const OwnColumn own{has_class, has_class ? row.place_of(label.column) : -1};
    Solution<Prediction, Row, Team, kUse> solution(prediction, row, team, scored.valid, own);
    when_solved();
    if (!scored.wanted) return;
    const double others = solution.tally().value;
    if (!has_class) return solution.write(task.out.row(scored.i), scale_of(others, scored.valid));
    const bool ignored = label.ignored, known = scored.valid && label.column >= 0;
    const Real d = max(label.score - scored.top, kMasked<Real>), e = solution.value(known ? d : Real(0));
    const double total = Prediction::kNormalized ? 1.0 : others + double{e};
    const Real scale = scale_of(total, known);
    if (task.out.exists()) {
      const Real weight = task.weights == nullptr ? Real(1) : task.weights[scored.i];
      const AnyRow out = task.out.row(scored.i);
      solution.write(out, ignored ? Real(0) : weight * scale);
      const Real rest = e == 0 ? Real(1) : scale * static_cast<Real>(others);  // 1 - p
      if (own.place >= 0 && !ignored) out.store(label.column, known ? -weight * rest : scale);
    }
    if (task.loss == nullptr || team.rank() != 0) return;
    Real loss = scale;
    if (known) {
      loss = d > kMasked<Real> ? class_loss(prediction, scored.am1, d, e, others, solution.tally().escort)
                               : -kLowest<Real>;
    }
    task.loss[scored.i] = ignored ? Real(0) : loss;
  }

 private:
  [[nodiscard]] __device__ bool has_classes() const {
    return kUse == Use::classes && task.classes != nullptr;
  }
  [[nodiscard]] __device__ static Real scale_of(double sum, bool valid) {
    return valid ? static_cast<Real>(1 / sum) : std::numeric_limits<Real>::quiet_NaN();
  }
};

}  // namespace device

/// Where powers are dear, maps and losses of classes are one kernel.
template <class T>
bool launch_held(std::string_view where, const DeviceRows<const T>& z, PerRow alpha,
                 const RowTask<Computed<T>>& task, Stream stream) {
  using device::Kind, device::Use;
  if (!alpha.per_row() && alpha[0] > 2) return true;
  const device::DoRowTask<Computed<T>, Use::classes> do_loss{task, z};
  const Kind kind = kind_of(alpha);
  if (kind == Kind::any) return launch_kind<Kind::any, (sizeof(T) == 8)>(where, z, alpha, do_loss, stream);
  const auto launch = [&](const auto& do_task) {
    if (kind == Kind::softmax) return launch_kind<Kind::softmax, false>(where, z, alpha, do_task, stream);
    if (kind == Kind::sparsemax) return launch_kind<Kind::sparsemax, false>(where, z, alpha, do_task, stream);
    return launch_kind<Kind::three_halves, false>(where, z, alpha, do_task, stream);
  };
  if (task.classes != nullptr) return launch(do_loss);
  return launch(device::DoRowTask<Computed<T>, Use::map>{task, z});
}

}  // namespace fenchel::cuda
