#pragma once

#include "backend/cuda/entmax/rows.cuh"
#include "backend/cuda/entmax/targets.hpp"
#include "core/fenchel_young_term.hpp"
#include "core/tsallis_term.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "fenchel/core/normalizer.hpp"

namespace fenchel::cuda {
namespace device {

/// One copy of the formulas in each kernel, not one for each number that a thread holds.
__device__ __noinline__ inline double loss_term(double am1, double q, double p, double u, bool cross) {
  return cross ? detail::cross_omega_term(am1, q, p, u) : detail::fenchel_young_term(am1, q, p, u);
}
__device__ __noinline__ inline double entropy_slope(double am1, double p) {
  return detail::tsallis_term_alpha_derivative(am1, p);
}

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

}  // namespace device

/// The losses of backend/cpu/entmax/loss.cpp from a row's prediction. Columns without a target add
/// p^alpha / alpha each. What both kinds of targets need:
template <class T>
struct LossParts {
  using Real = Computed<T>;

  DeviceRows<const T> scores;
  DeviceRows<const T> soft;
  RowTargets targets;
  LossArrays<Real> outputs;
  PerRow alpha;
  bool packed;

  /// p = exp_{2-alpha}(z - top - offset).
  struct PredictedRow {
    double am1, offset;
    Real top;

    __device__ PredictedRow(double am1_, double peak, Real top_)
        : am1(am1_),
          offset(isinf(am1_) ? peak * 0 : normalization_from_peak(am1_, log(peak)).offset),
          top(top_) {}
  };

  /// scale^alpha / alpha.
  [[nodiscard]] __device__ static double scale_power(double am1, double scale) {
    return isinf(am1) ? scale * 0 : exp((1 + am1) * log(scale)) / (1 + am1);
  }
  [[nodiscard]] __device__ Real target(index_t i, index_t j) const {
    return device::widened(soft.row(i)[j * soft.step]);
  }
  [[nodiscard]] __device__ Real centred(index_t i, index_t j, Real top) const {
    return max(device::widened(scores.row(i)[j * scores.step]) - top, device::kMasked<Real>);
  }
  /// What a column with a target adds; d is its score less the largest.
  [[nodiscard]] __device__ double term(const PredictedRow& map, Real d, double q, double p) const {
    const double u = d > device::kMasked<Real> ? double{d} - map.offset : -__builtin_huge_val();
    return device::loss_term(map.am1, q, p, u, targets.cross && targets.classes == nullptr);
  }
};

/// A class for each row, without the derivative in alpha.
template <class T>
struct WriteClassLoss : LossParts<T> {
  template <class Row, class Team, class Prediction>
  __device__ void operator()(Row& row, Team& team, index_t i, typename Row::Real top, Prediction& prediction,
                             bool valid, bool wanted) const {
    using Real = typename Row::Real;
    const auto e_of = [&](Real x) { return Row::kKeeps ? x : prediction.value(x); };
    const index_t label = this->targets.classes[i];
    const bool ignored = label == this->targets.ignored;
    const bool known = valid && label >= 0 && label < this->scores.cols;
    typename Row::Sum others = 0;
    device::TwoPowerSums<typename Row::Sum> sums;
    sums.value = solve_and_replace(prediction, row, team, valid);
    const typename Row::Place own = row.place_of(label);
    row.for_each_place([&](Real x, typename Row::Place place) {
      const Real power = prediction.powered(e_of(x));
      others += place == own ? Real(0) : power;
    });
    sums.escort = others;
    sums = team.reduce(sums, device::Plus());
    if (!wanted) return;
    const double scale = known ? 1 / static_cast<double>(sums.value) : nan("");
    const Real d = known ? this->centred(i, label, top) : Real(0);
    const DeviceRows<Real>& residual = this->outputs.residual;
    if (residual.data != nullptr) {
      const auto real_scale = static_cast<Real>(scale);
      row.write(residual.row(i), residual.step, this->packed, [&](Real x, typename Row::Place place) {
        return ignored ? Real(0) : real_scale * e_of(x) - (place == own ? Real(1) : Real(0));
      });
    }
    if (this->outputs.loss == nullptr || team.rank() != 0) return;
    double loss = ignored ? 0.0 : scale;
    if (known && !ignored) {
      const double am1 = this->alpha[i] - 1;
      const typename LossParts<T>::PredictedRow map(am1, scale * double{prediction.value(Real(0))}, top);
      loss = static_cast<double>(sums.escort) * this->scale_power(am1, scale) +
             this->term(map, d, 1.0, scale * double{prediction.value(d)});
    }
    this->outputs.loss[i] = static_cast<Real>(loss);
  }
};

/// Any targets and outputs, from a row that is read again at each visit.
template <class T>
struct WriteLoss : LossParts<T> {
  template <class Row, class Team, class Prediction>
  __device__ void operator()(Row& row, Team& team, index_t i, typename Row::Real top, Prediction& prediction,
                             bool valid, bool wanted) const {
    using Real = typename Row::Real;
    static_assert(!Row::kKeeps);
    const bool soft = this->targets.classes == nullptr;
    const index_t label = soft ? -1 : this->targets.classes[i];
    const bool ignored = this->targets.is_ignored(i);
    const bool known = valid && (soft || (label >= 0 && label < this->scores.cols));
    double total = solve_and_replace(prediction, row, team, valid);
    total = team.reduce(total, device::Plus());
    const double scale = known ? 1 / total : nan(""), am1 = this->alpha[i] - 1;
    const typename LossParts<T>::PredictedRow map(am1, scale * double{prediction.value(Real(0))}, top);
    const auto q_of = [&](index_t j) { return soft ? this->target(i, j) : (j == label ? Real(1) : Real(0)); };
    device::LossSums sums;
    row.for_each_place([&](Real d, index_t j) {
      const Real e = prediction.value(d), q = q_of(j);
      if (q == 0) sums.without_target += prediction.powered(e);
      if (q != 0) sums.loss += q > 0 ? this->term(map, d, double{q}, scale * double{e}) : nan("");
      if (this->outputs.slope == nullptr) return;
      sums.slope -= device::entropy_slope(am1, scale * double{e});
      if (soft && !this->targets.cross) sums.slope += device::entropy_slope(am1, double{q});
    });
    sums = team.reduce(sums, device::Plus());
    if (!wanted) return;
    const double loss = sums.loss + sums.without_target * this->scale_power(am1, scale) + 0 * scale;
    if (team.rank() == 0) {
      if (this->outputs.loss != nullptr) this->outputs.loss[i] = static_cast<Real>(ignored ? 0.0 : loss);
      if (this->outputs.slope != nullptr) {
        this->outputs.slope[i] = ignored ? 0.0 : sums.slope + 0 * scale;
      }
    }
    const DeviceRows<Real>& residual = this->outputs.residual;
    if (residual.data == nullptr) return;
    const auto real_scale = static_cast<Real>(loss == loss ? scale : loss);
    row.write(residual.row(i), residual.step, false, [&](Real d, index_t j) {
      return ignored ? Real(0) : real_scale * prediction.value(d) - q_of(j);
    });
  }
};

template <class T, class Targets>
void run_loss(std::string_view where, DeviceRows<const T> scores, PerRow alpha, const Targets& targets,
              bool cross, const LossOutputs<T>& outputs, Stream stream) {
  check_view(where, "scores", scores);
  check_targets(where, targets, "scores", scores);
  check_numbers(where, "loss", outputs.loss.size(), scores.rows);
  if (outputs.residual.data != nullptr) {
    check_same_shape(where, "residual", outputs.residual, "scores", scores);
  }
  check_numbers(where, "slope", outputs.slope.size(), scores.rows);
  check_alpha(where, alpha, scores.rows);
  if (scores.rows == 0) return;
  const LossParts<T> parts{scores,
                           distributions<T>(targets),
                           row_targets(targets, cross),
                           {outputs.loss.data(), outputs.residual, outputs.slope.data()},
                           alpha,
                           is_packed(outputs.residual)};
  const ScoreRows<T> rows{scores, is_packed(scores)};
  if (parts.targets.classes == nullptr || !outputs.slope.empty()) {
    return launch_entmax_rows<Variety::reading>(where, rows, alpha, WriteLoss<T>{parts}, stream);
  }
  constexpr Variety kVariety = std::is_same_v<T, float> ? Variety::fewer_teams : Variety::one_kind;
  launch_entmax_rows<kVariety>(where, rows, alpha, WriteClassLoss<T>{parts}, stream);
}

template <class T>
void entmax_loss(DeviceRows<const T> scores, PerRow alpha, const ClassTargets& targets,
                 const LossOutputs<T>& outputs, Stream stream) {
  run_loss<T>("cuda::entmax_loss", scores, alpha, targets, false, outputs, stream);
}

template <class T>
void entmax_loss(DeviceRows<const T> scores, PerRow alpha,
                 const std::type_identity_t<SoftTargets<T>>& targets, const LossOutputs<T>& outputs,
                 Stream stream) {
  run_loss<T>("cuda::entmax_loss", scores, alpha, targets, false, outputs, stream);
}

template <class T>
void cross_omega(DeviceRows<const T> scores, PerRow alpha,
                 const std::type_identity_t<SoftTargets<T>>& targets, const LossOutputs<T>& outputs,
                 Stream stream) {
  run_loss<T>("cuda::cross_omega", scores, alpha, targets, true, outputs, stream);
}

}  // namespace fenchel::cuda

#define FENCHEL_INSTANTIATE_LOSS(T)                                                                    \
  namespace fenchel::cuda {                                                                            \
  template void entmax_loss(DeviceRows<const T>, PerRow, const ClassTargets&, const LossOutputs<T>&,   \
                            Stream);                                                                   \
  template void entmax_loss(DeviceRows<const T>, PerRow, const SoftTargets<T>&, const LossOutputs<T>&, \
                            Stream);                                                                   \
  template void cross_omega(DeviceRows<const T>, PerRow, const SoftTargets<T>&, const LossOutputs<T>&, \
                            Stream);                                                                   \
  }
