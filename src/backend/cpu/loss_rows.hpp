#pragma once

#include <algorithm>
#include <cmath>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "core/scratch.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/parallel.hpp"

/// What the losses over the rows of a batch share: targets, outputs, reductions.
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
    parallel_rows(
        scores.rows, workers_for(scores.rows, scores.cols), [&](index_t begin, index_t end, int) noexcept {
          for (index_t i = begin; i < end; ++i) {
            bad[static_cast<std::size_t>(i)] = !ignored(i) && (first_negative(i) >= 0 || !sums_to_one(i));
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
    for (std::size_t j = 0; j < p.size(); ++j) p[j] -= targets_.rows[i][j];
  }

 private:
  [[nodiscard]] index_t first_negative(index_t i) const noexcept {
    const auto row = targets_.rows[i];
    const auto at = std::ranges::find_if_not(row, [](Real q) { return q >= 0; });
    return at == row.end() ? -1 : at - row.begin();
  }
  [[nodiscard]] double sum(index_t i) const noexcept {
    double total = 0;
    for (const Real q : targets_.rows[i]) total += q;
    return total;
  }
  [[nodiscard]] bool sums_to_one(index_t i) const noexcept {
    return std::abs(sum(i) - 1) <= cpu::kTargetSumTolerance;
  }

  const cpu::SoftTargets<Real>& targets_;
};

/// Where a loss, its gradient in the scores and that in a parameter of the regularizer go.
template <class Real>
struct LossRowOutputs {
  std::span<Real> loss;
  Rows<Real> grad_scores;
  std::span<double> grad_parameter;
  std::string_view parameter_name;
};

template <class Real>
void check_outputs(std::string_view where, Rows<const Real> scores, cpu::Reduction reduction,
                   const LossRowOutputs<Real>& outputs) {
  if (!outputs.loss.empty()) {
    const index_t expected = reduction == cpu::Reduction::none ? scores.rows : 1;
    const auto size = static_cast<index_t>(outputs.loss.size());
    if (size != expected) {
      throw_invalid_argument(where, "loss.size()", "must be " + std::to_string(expected), size);
    }
  }
  if (outputs.grad_scores.data != nullptr) {
    check_same_shape(where, "grad_scores", outputs.grad_scores, "scores", scores);
  }
  if (!outputs.grad_parameter.empty()) {
    check_count(where, outputs.parameter_name, static_cast<index_t>(outputs.grad_parameter.size()),
                scores.rows);
  }
}

/// A row's loss and its derivative in the parameter.
struct RowLoss {
  double value, parameter_gradient;
};

/// Checks targets and outputs, then calls row(i, scratch, p) for every row that counts, where p is to be
/// filled with the prediction; make_scratch(part) takes bytes_each from a worker's memory.
template <class Real, class Target, class MakeScratch, class Row>
void run_loss_rows(std::string_view where, Rows<const Real> scores, const Target& target,
                   cpu::Reduction reduction, const LossRowOutputs<Real>& outputs, index_t cost_a_row,
                   std::size_t bytes_each, const MakeScratch& make_scratch, const Row& row) {
  target.check(where, scores);
  check_outputs(where, scores, reduction, outputs);
  const index_t rows = scores.rows, cols = scores.cols;
  index_t counted = 0;
  for (index_t i = 0; i < rows; ++i) counted += !target.ignored(i);
  const double weight =
      reduction == cpu::Reduction::mean ? 1.0 / static_cast<double>(std::max<index_t>(1, counted)) : 1.0;

  std::vector<double> losses(static_cast<std::size_t>(rows));
  const int workers = workers_for(rows, cost_a_row);
  const Scratch memory(workers, bytes_each + scratch_bytes<Real>(cols));
  parallel_rows(rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = make_scratch(part);
    const std::span<Real> p(part.take<Real>(cols), static_cast<std::size_t>(cols));
    for (index_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      RowLoss loss{0, 0};
      if (target.ignored(i)) {
        std::ranges::fill(p, Real(0));
      } else {
        loss = row(i, scratch, p);
        target.subtract_from(i, p);
      }
      losses[at] = loss.value;
      if (!outputs.grad_parameter.empty()) outputs.grad_parameter[at] = weight * loss.parameter_gradient;
      if (outputs.grad_scores.data != nullptr) {
        const auto gradient = outputs.grad_scores[i];
        for (std::size_t j = 0; j < p.size(); ++j) gradient[j] = static_cast<Real>(weight) * p[j];
      }
    }
  });

  if (outputs.loss.empty()) return;
  if (reduction == cpu::Reduction::none) {
    std::ranges::transform(losses, outputs.loss.begin(), [](double x) { return static_cast<Real>(x); });
  } else {
    double sum = 0;  // in row order, so that threads do not change it
    for (const double x : losses) sum += x;
    outputs.loss[0] = static_cast<Real>(weight * sum);
  }
}

}  // namespace fenchel::detail
