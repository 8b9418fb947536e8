#pragma once

#include <limits>

#include "backend/cuda/checks.hpp"
#include "backend/cuda/device/columns.cuh"
#include "backend/cuda/device/storage.cuh"
#include "backend/cuda/row_launch.cuh"
#include "fenchel/backend/cuda/weighted_entmax.hpp"

/// What the kernels of weighted nodes share: rows of any type, which are read again at each step and computed
/// with in double, by a team of threads.
namespace fenchel::cuda {

/// Two teams: nobody needs more speed than clarity here, and each takes its time to compile.
template <class Use>
void with_node_team(index_t cols, const Use& use) {
  if (cols <= 1024) return use.template operator()<device::WarpTeam<128, device::kWarp>>();
  use.template operator()<device::BlockTeam<512>>();
}

/// A view that is left empty may stay so.
template <class T, class U>
void check_if_given(std::string_view where, std::string_view name, const DeviceRows<T>& x,
                    std::string_view other, const DeviceRows<U>& y) {
  if (x.data != nullptr) check_same_shape(where, name, x, other, y);
}
template <class Views, class U>
void check_nodes(std::string_view where, const std::string& name, const Views& views, std::string_view other,
                 const DeviceRows<U>& y) {
  check_if_given(where, name + ".scores", views.scores, other, y);
  check_if_given(where, name + ".weights", views.weights, other, y);
  check_numbers(where, name + ".alpha", views.alpha.size(), y.rows);
}

/// A direction, and a row of it.
struct AnyDirection {
  device::AnyRows scores, weights;
  const double* alpha;

  template <class T>
  explicit AnyDirection(const NodeDirection<T>& of)
      : scores(of.scores), weights(of.weights), alpha(of.alpha.data()) {}
};
struct AnyDirectionRow {
  device::AnyRow scores, weights;
  bool has_scores, has_weights;
  double alpha;

  __device__ AnyDirectionRow(const AnyDirection& of, index_t i, double order)
      : scores(of.scores.row(i)),
        weights(of.weights.row(i)),
        has_scores(of.scores.exists()),
        has_weights(of.weights.exists()),
        alpha(of.alpha == nullptr || isinf(order) ? 0.0 : of.alpha[i]) {}
  [[nodiscard]] __device__ double score(index_t j) const { return has_scores ? scores.get(j) : 0.0; }
  [[nodiscard]] __device__ double weight(index_t j) const { return has_weights ? weights.get(j) : 0.0; }
};

/// Where a gradient goes, and a row of it. Numbers saturate at the largest of their type.
struct AnyGradient {
  device::AnyRows scores, weights;
  double* alpha;

  template <class T>
  explicit AnyGradient(const NodeGradient<T>& to)
      : scores(to.scores), weights(to.weights), alpha(to.alpha.data()) {}
};
struct AnyGradientRow {
  device::AnyRow scores, weights;
  bool has_scores, has_weights;

  __device__ AnyGradientRow(const AnyGradient& to, index_t i)
      : scores(to.scores.row(i)),
        weights(to.weights.row(i)),
        has_scores(to.scores.exists()),
        has_weights(to.weights.exists()) {}
  __device__ void operator()(index_t j, double in_score, double in_weight) const {
    if (has_scores) set(scores, j, in_score);
    if (has_weights) set(weights, j, in_weight);
  }
  static __device__ void set(const device::AnyRow& to, index_t j, double x) {
    const double largest = to.largest();
    to.set(j, x > largest ? largest : x < -largest ? -largest : x);  // NaN stays
  }
};

/// A row of weights and probabilities.
struct AnyNodes {
  device::AnyRow weights, masses;

  [[nodiscard]] __device__ double w(index_t j) const { return weights.get(j); }
  [[nodiscard]] __device__ double mass(index_t j) const { return masses.get(j); }
};

/// Scores less the largest one of positive weight.
struct AnyAtoms {
  device::AnyRow scores, weights;
  double top;

  [[nodiscard]] __device__ double w(index_t j) const { return weights.get(j); }
  [[nodiscard]] __device__ double d(index_t j) const {
    return weights.get(j) > 0 ? scores.get(j) - top : -kInfinity;
  }
};

/// The atoms of a row; top is NaN where the row has no prediction.
template <class Columns>
__device__ AnyAtoms atoms_of(Columns& columns, const device::AnyRow& scores, const device::AnyRow& weights,
                             double alpha) {
  // The negative of the largest score, and of how many numbers are bad.
  const detail::Totals<2> found = columns.template smallest<2>([&](index_t j) {
    const double w = weights.get(j), z = scores.get(j);
    const bool bad_weight = !(w >= 0 && w < kInfinity), bad_score = w > 0 && !(z < kInfinity);
    return detail::Totals<2>{{w > 0 && z == z ? -z : kInfinity, bad_weight || bad_score ? -1.0 : 0.0}};
  });
  const bool valid = found.of[1] == 0 && found.of[0] < kInfinity && alpha > 0;
  return {scores, weights, valid ? -found.of[0] : std::numeric_limits<double>::quiet_NaN()};
}

}  // namespace fenchel::cuda
