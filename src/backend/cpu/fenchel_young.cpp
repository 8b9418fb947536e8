#include "fenchel/backend/fenchel_young.hpp"

#include <cmath>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax_row.hpp"
#include "backend/cpu/jacobian_row.hpp"
#include "backend/cpu/loss_rows.hpp"
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

/// Targets with the losses that they make.
template <class Real>
struct OneClass : detail::ClassRows<Real> {
  using detail::ClassRows<Real>::ClassRows;

  /// The columns other than the class add p^alpha / alpha each.
  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    const index_t label = this->label(i);
    double others = 0;
    for (index_t j = 0; j < row.n; ++j) {
      if (j != label) others += cross_omega_term(row.am1, 0, row.p[j], row.u(j));
    }
    return others + fenchel_young_term(row.am1, 1, row.p[label], row.u(label));
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t, double) const noexcept { return 0; }
};

template <class Real>
struct Soft : detail::SoftRows<Real> {
  Soft(const SoftTargets<Real>& targets, Loss loss) : detail::SoftRows<Real>(targets), kind(loss) {}

  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    const auto term = kind == Loss::fenchel_young ? fenchel_young_term : cross_omega_term;
    double sum = 0;
    for (index_t j = 0; j < row.n; ++j) sum += term(row.am1, this->at(i, j), row.p[j], row.u(j));
    return sum;
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t i, double am1) const noexcept {
    double sum = 0;
    if (kind == Loss::cross_omega) return sum;
    for (const Real q : this->row(i)) sum += tsallis_term_alpha_derivative(am1, q);
    return sum;
  }

  Loss kind;
};

template <class Real, class Target>
void run(std::string_view where, Rows<const Real> scores, PerRow alpha, const Target& target,
         Reduction reduction, const LossOutputs<Real>& outputs) {
  detail::check_view(where, "scores", scores);
  detail::check_alpha(where, alpha, scores.rows);
  const index_t cols = scores.cols;
  const detail::LossRowOutputs<Real> all{outputs.loss, outputs.grad_scores, outputs.grad_alpha, "grad_alpha"};
  detail::run_loss_rows(
      where, scores, target, reduction, all, 4 * cols, detail::entmax_scratch_bytes<Real>(cols),
      [cols](auto& part) { return detail::take_entmax_scratch<Real>(part, cols); },
      [&](index_t i, const auto& scratch, std::span<Real> p) noexcept {
        const auto map = detail::entmax_row(scores.row(i), cols, alpha[i], scratch, p.data());
        const PredictedRow<Real> row{scores.row(i), p.data(), cols, alpha[i] - 1, map};
        detail::RowLoss loss{row.valid() ? target.loss(i, row) : map.top, 0};
        if (!outputs.grad_alpha.empty()) {
          loss.parameter_gradient = target.negentropy_alpha_gradient(i, row.am1);
          for (const Real x : p) loss.parameter_gradient -= tsallis_term_alpha_derivative(row.am1, x);
        }
        return loss;
      });
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
