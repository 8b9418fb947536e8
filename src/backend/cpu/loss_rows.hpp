#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/target_row.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/parallel.hpp"

/// What the losses over the rows of a batch share: targets and outputs.
namespace fenchel::detail {

/// Targets as a loss sees them: which rows count, and what a row charges.
template <class Real>
class ClassRows {
 public:
  explicit ClassRows(const cpu::ClassTargets& targets) : targets_(targets) {}

  void check(std::string_view where, Rows<const Real> scores) const {
    check_count(where, "classes", static_cast<index_t>(targets_.classes.size()), scores.rows);
    for (index_t i = 0; i < scores.rows; ++i) {
      if (ignored(i) || (label(i) >= 0 && label(i) < scores.cols)) continue;
      throw_domain_error(
          where, indexed("classes", i),
          "must be in [0, " + std::to_string(scores.cols) + ") or " + std::to_string(targets_.ignored),
          static_cast<double>(label(i)));
    }
  }
  [[nodiscard]] bool ignored(index_t i) const noexcept { return label(i) == targets_.ignored; }
  [[nodiscard]] double at(index_t i, index_t j) const noexcept { return j == label(i) ? 1.0 : 0.0; }
  [[nodiscard]] index_t label(index_t i) const noexcept {
    return targets_.classes[static_cast<std::size_t>(i)];
  }
  void subtract_from(index_t i, std::span<Real> p) const noexcept {
    p[static_cast<std::size_t>(label(i))] -= 1;
  }

 private:
  const cpu::ClassTargets& targets_;
};

template <class Real>
class SoftRows {
 public:
  explicit SoftRows(const cpu::SoftTargets<Real>& targets) : targets_(targets) {}

  void check(std::string_view where, Rows<const Real> scores) const {
    check_same_shape(where, "targets", targets_.rows, "scores", scores);
    if (!targets_.ignore.empty()) {
      check_count(where, "ignore", static_cast<index_t>(targets_.ignore.size()), scores.rows);
    }
    std::vector<unsigned char> bad(static_cast<std::size_t>(scores.rows));
    parallel_rows(scores.rows, workers_for(scores.rows, scores.cols),
                  [&](index_t begin, index_t end, int) noexcept {
                    for (index_t i = begin; i < end; ++i) {
                      bad[static_cast<std::size_t>(i)] =
                          !ignored(i) && !(std::abs(sum(i) - 1) <= cpu::kTargetSumTolerance);
                    }
                  });
    const auto first = std::ranges::find(bad, 1);
    if (first == bad.end()) return;
    const index_t i = first - bad.begin();
    const index_t negative = first_negative(i);
    if (negative < 0) throw_domain_error(where, "the sum of " + indexed("targets", i), "must be 1", sum(i));
    throw_domain_error(where, indexed(indexed("targets", i), negative), "must not be negative",
                       double{targets_.rows.row(i)[negative]});
  }
  [[nodiscard]] bool ignored(index_t i) const noexcept {
    return !targets_.ignore.empty() && targets_.ignore[static_cast<std::size_t>(i)] != 0;
  }
  [[nodiscard]] double at(index_t i, index_t j) const noexcept { return double{targets_.rows.row(i)[j]}; }
  [[nodiscard]] std::span<const Real> row(index_t i) const noexcept { return targets_.rows[i]; }
  void subtract_from(index_t i, std::span<Real> p) const noexcept {
    subtract_targets(targets_.rows.row(i), targets_.rows.cols, p.data());
  }

 private:
  [[nodiscard]] index_t first_negative(index_t i) const noexcept {
    const auto row = targets_.rows[i];
    const auto at = std::ranges::find_if_not(row, [](Real q) { return q >= 0; });
    return at == row.end() ? -1 : at - row.begin();
  }
  [[nodiscard]] double sum(index_t i) const noexcept {
    return sum_of_targets(targets_.rows.row(i), targets_.rows.cols);
  }

  const cpu::SoftTargets<Real>& targets_;
};

template <class Real>
void check_outputs(std::string_view where, Rows<const Real> scores, const cpu::LossOutputs<Real>& outputs) {
  const auto check_numbers = [&](std::string_view name, std::size_t size) {
    if (size != 0) check_count(where, name, static_cast<index_t>(size), scores.rows);
  };
  check_numbers("loss", outputs.loss.size());
  if (outputs.residual.data != nullptr) {
    check_same_shape(where, "residual", outputs.residual, "scores", scores);
  }
  check_numbers("slope", outputs.slope.size());
}

/// A row's loss and its derivative in the parameter of the regularizer.
struct RowLoss {
  double value, slope;
};

/// Checks targets and outputs, then calls predict(i, end, scratch, p), which fills rows of p, at most so
/// many, with the predictions of the rows from i on and says how many, and row(i, k, scratch, p) for each of
/// these that counts, the k-th of them. make_scratch(part) takes bytes_each from a worker's memory. The
/// residual is multiplied by the weights, one for each row that counts, where there are any.
template <class Real, class Target, class MakeScratch, class Predict, class Row>
void run_loss_groups(std::string_view where, Rows<const Real> scores, const Target& target,
                     const cpu::LossOutputs<Real>& outputs, index_t cost_a_row, index_t most,
                     std::size_t bytes_each, const MakeScratch& make_scratch, const Predict& predict,
                     const Row& row, std::span<const Real> weights = {}) {
  target.check(where, scores);
  check_outputs(where, scores, outputs);
  const index_t rows = scores.rows, cols = scores.cols;
  const int workers = workers_for(rows, cost_a_row);
  const Scratch memory(workers, bytes_each + scratch_bytes<Real>(most * cols));
  parallel_rows(rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = make_scratch(part);
    const Rows<Real> predictions(part.take<Real>(most * cols), most, cols);
    for (index_t first = begin; first < end;) {
      const index_t count = predict(first, end, scratch, predictions);
      for (index_t k = 0; k < count; ++k) {
        const index_t i = first + k;
        const auto at = static_cast<std::size_t>(i);
        const std::span<Real> p = predictions[k];
        RowLoss loss{0, 0};
        if (target.ignored(i)) {
          std::ranges::fill(p, Real(0));
        } else {
          loss = row(i, k, scratch, p);
          target.subtract_from(i, p);
          if (!weights.empty()) {
            for (Real& x : p) x *= weights[at];
          }
        }
        if (!outputs.loss.empty()) outputs.loss[at] = static_cast<Real>(loss.value);
        if (!outputs.slope.empty()) outputs.slope[at] = loss.slope;
        if (outputs.residual.data != nullptr) std::ranges::copy(p, outputs.residual.row(i));
      }
      first += count;
    }
  });
}

/// The same of rows one by one, where row(i, scratch, p) fills p as well.
template <class Real, class Target, class MakeScratch, class Row>
void run_loss_rows(std::string_view where, Rows<const Real> scores, const Target& target,
                   const cpu::LossOutputs<Real>& outputs, index_t cost_a_row, std::size_t bytes_each,
                   const MakeScratch& make_scratch, const Row& row) {
  run_loss_groups(
      where, scores, target, outputs, cost_a_row, 1, bytes_each, make_scratch,
      [](index_t, index_t, const auto&, const Rows<Real>&) noexcept { return index_t{1}; },
      [&](index_t i, index_t, const auto& scratch, std::span<Real> p) noexcept {
        return row(i, scratch, p);
      });
}

}  // namespace fenchel::detail
