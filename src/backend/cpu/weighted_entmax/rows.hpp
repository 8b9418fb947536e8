#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax/row.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "fenchel/core/parallel.hpp"

/// What the functions of weighted nodes on the CPU share: checks, and rows as the formulas read them.
namespace fenchel::detail {

/// One for each node, finite and not negative.
template <class Real>
void check_node_weights(std::string_view where, Rows<const Real> weights, std::string_view other_name,
                        Rows<const Real> other) {
  check_same_shape(where, "weights", weights, other_name, other);
  const index_t different = weights.stride == 0 ? std::min<index_t>(weights.rows, 1) : weights.rows;
  const auto first_bad = [&](index_t i) noexcept {
    const auto row = weights[i];
    return std::ranges::find_if_not(row, [](Real w) { return w >= 0 && std::isfinite(w); }) - row.begin();
  };
  std::vector<unsigned char> bad(static_cast<std::size_t>(different));
  parallel_rows(different, workers_for(different, weights.cols),
                [&](index_t begin, index_t end, int) noexcept {
                  for (index_t i = begin; i < end; ++i)
                    bad[static_cast<std::size_t>(i)] = first_bad(i) < weights.cols;
                });
  const auto row = std::ranges::find(bad, 1);
  if (row == bad.end()) return;
  const index_t i = row - bad.begin(), j = first_bad(i);
  throw_domain_error(where, indexed(indexed("weights", i), j), "must be finite and not negative",
                     double{weights.row(i)[j]});
}

/// Views that may be left empty.
template <class T, class U>
void check_if_given(std::string_view where, std::string_view name, Rows<T> view, std::string_view other_name,
                    Rows<U> other) {
  if (view.data != nullptr) check_same_shape(where, name, view, other_name, other);
}
template <class Real>
void check_gradient(std::string_view where, std::string_view name, const cpu::NodeGradient<Real>& gradient,
                    std::string_view other_name, Rows<const Real> other) {
  const std::string prefix(name);
  check_if_given(where, prefix + ".scores", gradient.scores, other_name, other);
  check_if_given(where, prefix + ".weights", gradient.weights, other_name, other);
  if (!gradient.alpha.empty()) check_count(where, prefix + ".alpha", std::ssize(gradient.alpha), other.rows);
}
template <class Real>
void check_direction(std::string_view where, const cpu::NodeDirection<Real>& direction,
                     std::string_view other_name, Rows<const Real> other) {
  check_if_given(where, "direction.scores", direction.scores, other_name, other);
  check_if_given(where, "direction.weights", direction.weights, other_name, other);
  if (!direction.alpha.empty())
    check_count(where, "direction.alpha", std::ssize(direction.alpha), other.rows);
}

/// Memory for one row: scores less the largest, densities and weights.
struct NodeScratch {
  double *d, *density, *w;
};
inline std::size_t node_scratch_bytes(index_t cols) noexcept { return 3 * scratch_bytes<double>(cols); }
inline NodeScratch take_node_scratch(WorkerScratch& memory, index_t cols) noexcept {
  return {memory.take<double>(cols), memory.take<double>(cols), memory.take<double>(cols)};
}

/// One row; p may be z. d and w stay in the scratch. All NaN for a row that has no prediction.
template <class Real>
EntmaxRow weighted_entmax_row(const Real* z, const Real* w, index_t n, double alpha,
                              const NodeScratch& scratch, Real* p) noexcept;

/// A row of probabilities as the derivatives read it.
template <class Real>
struct RowNodes {
  const Real *weights, *masses;

  [[nodiscard]] double w(index_t j) const noexcept { return weights[j]; }
  [[nodiscard]] double mass(index_t j) const noexcept { return masses[j]; }
};

/// A row of a direction.
template <class Real>
struct RowDirection {
  const Real *scores, *weights;
  double alpha;

  RowDirection(const cpu::NodeDirection<Real>& of, index_t i, double order) noexcept
      : scores(of.scores.data == nullptr ? nullptr : of.scores.row(i)),
        weights(of.weights.data == nullptr ? nullptr : of.weights.row(i)),
        alpha(of.alpha.empty() || std::isinf(order) ? 0.0 : of.alpha[static_cast<std::size_t>(i)]) {}
  [[nodiscard]] double score(index_t j) const noexcept { return scores == nullptr ? 0.0 : double{scores[j]}; }
  [[nodiscard]] double weight(index_t j) const noexcept {
    return weights == nullptr ? 0.0 : double{weights[j]};
  }
};

/// Where a row of a gradient goes. Numbers saturate at the largest of the type.
template <class Real>
class RowGradient {
 public:
  RowGradient(const cpu::NodeGradient<Real>& to, index_t i) noexcept
      : scores_(to.scores.data == nullptr ? nullptr : to.scores.row(i)),
        weights_(to.weights.data == nullptr ? nullptr : to.weights.row(i)) {}
  void operator()(index_t j, double in_score, double in_weight) const noexcept {
    if (scores_ != nullptr) scores_[j] = saturated(in_score);
    if (weights_ != nullptr) weights_[j] = saturated(in_weight);
  }
  [[nodiscard]] static Real saturated(double x) noexcept {
    constexpr double kLargest = std::numeric_limits<Real>::max();
    return static_cast<Real>(std::clamp(x, -kLargest, kLargest));  // NaN stays
  }

 private:
  Real *scores_, *weights_;
};

}  // namespace fenchel::detail
