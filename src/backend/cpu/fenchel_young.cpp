#include "fenchel/backend/fenchel_young.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax_row.hpp"
#include "backend/cpu/jacobian_row.hpp"
#include "fenchel/core/fenchel_young_term.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

enum class Loss { fenchel_young, cross_omega };

/// A row whose map is known: scores z, prediction p, u = z - A.
template <class Real>
struct PredictedRow {
  const Real* z;
  const Real* p;
  index_t n;
  double am1;
  detail::EntmaxRow map;

  [[nodiscard]] double u(index_t j) const noexcept { return z[j] - map.top - map.normalization.offset; }
  [[nodiscard]] bool valid() const noexcept { return !std::isnan(map.top); }
};

/// Targets as the loss sees them: which rows count, and a row's loss, gradient and d Omega(q) / d alpha.
template <class Real>
class OneClass {
 public:
  explicit OneClass(const ClassTargets& targets) : targets_(targets) {}

  void check(std::string_view where, Rows<const Real> scores) const {
    detail::check_count(where, "classes", static_cast<index_t>(targets_.classes.size()), scores.rows);
    for (index_t i = 0; i < scores.rows; ++i) {
      if (ignored(i) || (label(i) >= 0 && label(i) < scores.cols)) continue;
      throw_domain_error(
          where, indexed("classes", i),
          "must be in [0, " + std::to_string(scores.cols) + ") or " + std::to_string(targets_.ignored),
          static_cast<double>(label(i)));
    }
  }
  [[nodiscard]] bool ignored(index_t i) const noexcept { return label(i) == targets_.ignored; }

  /// The columns other than the class add p^alpha / alpha each.
  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    double others = 0;
    for (index_t j = 0; j < row.n; ++j) {
      if (j != label(i)) others += cross_omega_term(row.am1, 0, row.p[j], row.u(j));
    }
    return others + fenchel_young_term(row.am1, 1, row.p[label(i)], row.u(label(i)));
  }
  void subtract_from(index_t i, std::span<Real> p) const noexcept {
    p[static_cast<std::size_t>(label(i))] -= 1;
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t, double) const noexcept { return 0; }

 private:
  [[nodiscard]] index_t label(index_t i) const noexcept {
    return targets_.classes[static_cast<std::size_t>(i)];
  }
  const ClassTargets& targets_;
};

template <class Real>
class Soft {
 public:
  Soft(const SoftTargets<Real>& targets, Loss loss) : targets_(targets), loss_(loss) {}

  void check(std::string_view where, Rows<const Real> scores) const {
    detail::check_same_shape(where, "targets", targets_.rows, "scores", scores);
    if (!targets_.ignore.empty()) {
      detail::check_count(where, "ignore", static_cast<index_t>(targets_.ignore.size()), scores.rows);
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

  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    const auto term = loss_ == Loss::fenchel_young ? fenchel_young_term : cross_omega_term;
    double sum = 0;
    for (index_t j = 0; j < row.n; ++j) sum += term(row.am1, targets_.rows.row(i)[j], row.p[j], row.u(j));
    return sum;
  }
  void subtract_from(index_t i, std::span<Real> p) const noexcept {
    for (std::size_t j = 0; j < p.size(); ++j) p[j] -= targets_.rows[i][j];
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t i, double am1) const noexcept {
    double sum = 0;
    if (loss_ == Loss::cross_omega) return sum;
    for (const Real q : targets_.rows[i]) sum += tsallis_term_alpha_derivative(am1, q);
    return sum;
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
    return std::abs(sum(i) - 1) <= kTargetSumTolerance;
  }

  const SoftTargets<Real>& targets_;
  Loss loss_;
};

template <class Real>
void check_outputs(std::string_view where, Rows<const Real> scores, Reduction reduction,
                   const LossOutputs<Real>& outputs) {
  if (!outputs.loss.empty()) {
    const index_t expected = reduction == Reduction::none ? scores.rows : 1;
    const auto size = static_cast<index_t>(outputs.loss.size());
    if (size != expected) {
      throw_invalid_argument(where, "loss.size()", "must be " + std::to_string(expected), size);
    }
  }
  if (outputs.grad_scores.data != nullptr) {
    detail::check_same_shape(where, "grad_scores", outputs.grad_scores, "scores", scores);
  }
  if (!outputs.grad_alpha.empty()) {
    detail::check_count(where, "grad_alpha", static_cast<index_t>(outputs.grad_alpha.size()), scores.rows);
  }
}

template <class Real, class Target>
void run(std::string_view where, Rows<const Real> scores, PerRow alpha, const Target& target,
         Reduction reduction, const LossOutputs<Real>& outputs) {
  detail::check_view(where, "scores", scores);
  detail::check_alpha(where, alpha, scores.rows);
  target.check(where, scores);
  check_outputs(where, scores, reduction, outputs);

  const index_t rows = scores.rows, cols = scores.cols;
  index_t counted = 0;
  for (index_t i = 0; i < rows; ++i) counted += !target.ignored(i);
  const double weight =
      reduction == Reduction::mean ? 1.0 / static_cast<double>(std::max<index_t>(1, counted)) : 1.0;

  std::vector<double> losses(static_cast<std::size_t>(rows));
  const int workers = workers_for(rows, 4 * cols);
  const detail::Scratch memory(workers,
                               detail::entmax_scratch_bytes<Real>(cols) + detail::scratch_bytes<Real>(cols));
  parallel_rows(rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_entmax_scratch<Real>(part, cols);
    const std::span<Real> p(part.take<Real>(cols), static_cast<std::size_t>(cols));
    for (index_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      double alpha_gradient = 0;
      if (target.ignored(i)) {
        std::ranges::fill(p, Real(0));
      } else {
        const auto map = detail::entmax_row(scores.row(i), cols, alpha[i], scratch, p.data());
        const PredictedRow<Real> row{scores.row(i), p.data(), cols, alpha[i] - 1, map};
        losses[at] = row.valid() ? target.loss(i, row) : map.top;
        if (!outputs.grad_alpha.empty()) {
          alpha_gradient = target.negentropy_alpha_gradient(i, row.am1);
          for (const Real x : p) alpha_gradient -= tsallis_term_alpha_derivative(row.am1, x);
        }
        target.subtract_from(i, p);
      }
      if (!outputs.grad_alpha.empty()) outputs.grad_alpha[at] = weight * alpha_gradient;
      if (outputs.grad_scores.data != nullptr) {
        const auto gradient = outputs.grad_scores[i];
        for (std::size_t j = 0; j < p.size(); ++j) gradient[j] = static_cast<Real>(weight) * p[j];
      }
    }
  });

  if (outputs.loss.empty()) return;
  if (reduction == Reduction::none) {
    std::ranges::transform(losses, outputs.loss.begin(), [](double x) { return static_cast<Real>(x); });
  } else {
    double sum = 0;  // in row order, so that threads do not change it
    for (const double x : losses) sum += x;
    outputs.loss[0] = static_cast<Real>(weight * sum);
  }
}

}  // namespace

template <class Real>
void fenchel_young(Input<Real> scores, PerRow alpha, const ClassTargets& targets, Reduction reduction,
                   const LossOutputs<Real>& outputs) {
  run("fenchel_young", scores, alpha, OneClass<Real>(targets), reduction, outputs);
}

template <class Real>
void fenchel_young(Input<Real> scores, PerRow alpha, const std::type_identity_t<SoftTargets<Real>>& targets,
                   Reduction reduction, const LossOutputs<Real>& outputs) {
  run("fenchel_young", scores, alpha, Soft<Real>(targets, Loss::fenchel_young), reduction, outputs);
}

template <class Real>
void cross_omega(Input<Real> scores, PerRow alpha, const std::type_identity_t<SoftTargets<Real>>& targets,
                 Reduction reduction, const LossOutputs<Real>& outputs) {
  run("cross_omega", scores, alpha, Soft<Real>(targets, Loss::cross_omega), reduction, outputs);
}

template <class Real>
void fenchel_young_hessian_product(Input<Real> scores, PerRow alpha, Input<Real> direction,
                                   Rows<Real> product) {
  constexpr auto kWhere = "fenchel_young_hessian_product";
  detail::check_view(kWhere, "scores", scores);
  detail::check_same_shape(kWhere, "direction", direction, "scores", scores);
  detail::check_same_shape(kWhere, "product", product, "scores", scores);
  detail::check_alpha(kWhere, alpha, scores.rows);
  const index_t cols = scores.cols;
  const int workers = workers_for(scores.rows, 3 * cols);
  const detail::Scratch memory(workers, detail::entmax_scratch_bytes<Real>(cols) +
                                            detail::jacobian_scratch_bytes<Real>(cols) +
                                            detail::scratch_bytes<Real>(cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto map_scratch = detail::take_entmax_scratch<Real>(part, cols);
    const auto scratch = detail::take_jacobian_scratch<Real>(part, cols);
    Real* p = part.take<Real>(cols);
    for (index_t i = begin; i < end; ++i) {
      detail::entmax_row(scores.row(i), cols, alpha[i], map_scratch, p);
      detail::jacobian_row(p, cols, alpha[i], direction.row(i), scratch, product.row(i));
    }
  });
}

template void fenchel_young(Input<float>, PerRow, const ClassTargets&, Reduction, const LossOutputs<float>&);
template void fenchel_young(Input<double>, PerRow, const ClassTargets&, Reduction,
                            const LossOutputs<double>&);
template void fenchel_young(Input<float>, PerRow, const SoftTargets<float>&, Reduction,
                            const LossOutputs<float>&);
template void fenchel_young(Input<double>, PerRow, const SoftTargets<double>&, Reduction,
                            const LossOutputs<double>&);
template void cross_omega(Input<float>, PerRow, const SoftTargets<float>&, Reduction,
                          const LossOutputs<float>&);
template void cross_omega(Input<double>, PerRow, const SoftTargets<double>&, Reduction,
                          const LossOutputs<double>&);
template void fenchel_young_hessian_product(Input<float>, PerRow, Input<float>, Rows<float>);
template void fenchel_young_hessian_product(Input<double>, PerRow, Input<double>, Rows<double>);

}  // namespace fenchel::cpu
