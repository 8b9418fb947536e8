#include "fenchel/backend/cpu/entmax_loss.hpp"

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <utility>

#include "backend/cpu/checks.hpp"
#include "backend/cpu/entmax/alpha_direction.hpp"
#include "backend/cpu/entmax/jacobian_row.hpp"
#include "backend/cpu/entmax/power_sum.hpp"
#include "backend/cpu/entmax/row_group.hpp"
#include "backend/cpu/entmax/soft_loss_row.hpp"
#include "backend/cpu/loss_rows.hpp"
#include "core/fenchel_young_term.hpp"
#include "fenchel/core/parallel.hpp"

namespace fenchel::cpu {
namespace {

enum class Loss { fenchel_young, cross_omega };

/// A row whose map is known: scores z, prediction p, u = z - A.
template <class Real>
struct PredictedRow {
  const Real* z;
  Real* p;
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

  /// The columns other than the class add p^alpha / alpha each: most of them, of probability 0, nothing.
  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    const index_t label = this->label(i);
    const Real own = std::exchange(row.p[label], Real(0));
    double others = 0;
    if (!std::isinf(row.am1))
      others = detail::power_sum(row.z, row.p, row.n, row.am1, row.map.top, row.map.normalization.offset);
    row.p[label] = own;
    return others / (1 + row.am1) + detail::fenchel_young_term(row.am1, 1, own, row.u(label));
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t, double) const noexcept { return 0; }
  [[nodiscard]] double negentropy_alpha_curvature(index_t, double) const noexcept { return 0; }
};

template <class Real>
struct Soft : detail::SoftRows<Real> {
  Soft(const SoftTargets<Real>& targets, Loss loss) : detail::SoftRows<Real>(targets), kind_(loss) {}

  [[nodiscard]] double loss(index_t i, const PredictedRow<Real>& row) const noexcept {
    const detail::SoftLossRow<Real> soft{row.z, row.p, this->row(i).data(), row.n, row.am1, row.map};
    return kind_ == Loss::fenchel_young ? detail::fenchel_young_row(soft) : detail::cross_omega_row(soft);
  }
  [[nodiscard]] double negentropy_alpha_gradient(index_t i, double am1) const noexcept {
    if (kind_ == Loss::cross_omega) return 0;
    const auto row = this->row(i);
    return detail::negentropy_slope(row.data(), std::ssize(row), am1);
  }
  [[nodiscard]] double negentropy_alpha_curvature(index_t i, double am1) const noexcept {
    double sum = 0;
    if (kind_ == Loss::cross_omega) return sum;
    for (const Real q : this->row(i)) sum += detail::tsallis_term_alpha_curvature(am1, q);
    return sum;
  }

 private:
  Loss kind_;
};

/// The residual is multiplied by the weights, where there are any.
template <class Real, class Target>
void run(std::string_view where, Rows<const Real> scores, PerRow alpha, const Target& target,
         const LossOutputs<Real>& outputs, std::span<const Real> weights = {}) {
  detail::check_view(where, "scores", scores);
  detail::check_alpha(where, alpha, scores.rows);
  const index_t cols = scores.cols;
  struct LossScratch {
    detail::GroupScratch<Real> group;
    detail::EntmaxRow* maps;
  };
  const bool wants_loss = !outputs.loss.empty();
  detail::run_loss_groups(
      where, scores, target, outputs, 4 * cols, detail::most_in_group<Real>(cols),
      detail::group_scratch_bytes<Real>(cols) +
          detail::scratch_bytes<detail::EntmaxRow>(detail::kGroup<Real>),
      [cols](auto& part) {
        return LossScratch{detail::take_group_scratch<Real>(part, cols),
                           part.template take<detail::EntmaxRow>(detail::kGroup<Real>)};
      },
      [&](index_t i, index_t end, const LossScratch& scratch, const Rows<Real>& p) noexcept {
        if (target.ignored(i)) return index_t{1};  // nobody asks for its prediction
        const index_t count = detail::group_at(alpha, cols, i, end, detail::kGroup<Real>);
        detail::entmax_rows({scores.row(i), count, cols, scores.stride}, alpha[i], scratch.group,
                            {p.data, count, cols, p.stride}, wants_loss ? scratch.maps : nullptr,
                            {detail::rows_ahead(scores, i + count, end),
                             detail::rows_ahead(outputs.residual, i + count, end)});
        return count;
      },
      [&](index_t i, index_t k, const LossScratch& scratch, std::span<Real> p) noexcept {
        const double am1 = alpha[i] - 1;
        detail::RowLoss loss{0, 0};
        if (wants_loss) {
          const PredictedRow<Real> row{scores.row(i), p.data(), cols, am1, scratch.maps[k]};
          loss.value = row.valid() ? target.loss(i, row) : row.map.top;
        }
        if (!outputs.slope.empty()) {
          loss.slope = target.negentropy_alpha_gradient(i, am1);
          loss.slope -= detail::negentropy_slope(p.data(), cols, am1);
        }
        return loss;
      },
      weights);
}

template <class Real, class Target>
void run_vjp(Rows<const Real> scores, PerRow alpha, const Target& target, std::span<const Real> cotangent,
             Rows<Real> gradient) {
  constexpr auto kWhere = "entmax_loss_vjp";
  detail::check_count(kWhere, "cotangent", std::ssize(cotangent), scores.rows);
  detail::check_same_shape(kWhere, "gradient", gradient, "scores", scores);
  run(kWhere, scores, alpha, target, LossOutputs<Real>{.residual = gradient}, cotangent);
}

template <class Real, class Target>
void run_curvature(std::string_view where, Rows<const Real> residual, PerRow alpha, const Target& target,
                   const LossCurvature<Real>& curvature) {
  detail::check_view(where, "residual", residual);
  detail::check_alpha(where, alpha, residual.rows);
  detail::check_same_shape(where, "direction", curvature.direction, "residual", residual);
  detail::check_same_shape(where, "product", curvature.product, "residual", residual);
  const auto check_numbers = [&](std::string_view name, std::size_t size) {
    if (size != 0) detail::check_count(where, name, static_cast<index_t>(size), residual.rows);
  };
  check_numbers("alpha_direction", curvature.alpha_direction.size());
  check_numbers("alpha_product", curvature.alpha_product.size());
  target.check(where, residual);
  const index_t cols = residual.cols;
  const int workers = workers_for(residual.rows, 100 * cols);
  const detail::Scratch memory(
      workers, detail::jacobian_scratch_bytes<Real>(cols) + 2 * detail::scratch_bytes<Real>(cols));
  parallel_rows(residual.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto scratch = detail::take_jacobian_scratch<Real>(part, cols);
    Real *p = part.take<Real>(cols), *shifted = part.take<Real>(cols);
    for (index_t i = begin; i < end; ++i) {
      const auto at = static_cast<std::size_t>(i);
      Real* product = curvature.product.row(i);
      double along = 0;
      if (target.ignored(i)) {
        std::fill_n(product, cols, Real(0));
      } else {
        const double step =
            curvature.alpha_direction.empty() || std::isinf(alpha[i]) ? 0.0 : curvature.alpha_direction[at];
        for (index_t j = 0; j < cols; ++j) p[j] = static_cast<Real>(residual.row(i)[j] + target.at(i, j));
        const Real* direction = curvature.direction.row(i);
        if (step != 0) {
          detail::shift_along_alpha(alpha[i], p, direction, step, cols, shifted);
          direction = shifted;
        }
        detail::jacobian_row(p, cols, alpha[i], direction, scratch, product);
        if (!curvature.alpha_product.empty()) {
          double second = target.negentropy_alpha_curvature(i, alpha[i] - 1);
          for (index_t j = 0; j < cols; ++j)
            second -= detail::tsallis_term_alpha_curvature(alpha[i] - 1, p[j]);
          along = second * step - detail::along_alpha(alpha[i], p, product, cols);
        }
      }
      if (!curvature.alpha_product.empty()) curvature.alpha_product[at] = along;
    }
  });
}

}  // namespace

template <class Real>
void entmax_loss(Input<Real> scores, PerRow alpha, const ClassTargets& targets,
                 const LossOutputs<Real>& outputs) {
  run("entmax_loss", scores, alpha, OneClass<Real>(targets), outputs);
}

template <class Real>
void entmax_loss(Input<Real> scores, PerRow alpha, const std::type_identity_t<SoftTargets<Real>>& targets,
                 const LossOutputs<Real>& outputs) {
  run("entmax_loss", scores, alpha, Soft<Real>(targets, Loss::fenchel_young), outputs);
}

template <class Real>
void cross_omega(Input<Real> scores, PerRow alpha, const std::type_identity_t<SoftTargets<Real>>& targets,
                 const LossOutputs<Real>& outputs) {
  run("cross_omega", scores, alpha, Soft<Real>(targets, Loss::cross_omega), outputs);
}

template <class Real>
void entmax_loss_vjp(Input<Real> scores, PerRow alpha, const ClassTargets& targets,
                     std::span<const std::type_identity_t<Real>> cotangent, Rows<Real> gradient) {
  run_vjp(scores, alpha, OneClass<Real>(targets), cotangent, gradient);
}

template <class Real>
void entmax_loss_vjp(Input<Real> scores, PerRow alpha, const std::type_identity_t<SoftTargets<Real>>& targets,
                     std::span<const std::type_identity_t<Real>> cotangent, Rows<Real> gradient) {
  run_vjp(scores, alpha, Soft<Real>(targets, Loss::fenchel_young), cotangent, gradient);
}

template <class Real>
void entmax_loss_curvature(Input<Real> residual, PerRow alpha, const ClassTargets& targets,
                           const LossCurvature<Real>& curvature) {
  run_curvature("entmax_loss_curvature", residual, alpha, OneClass<Real>(targets), curvature);
}

template <class Real>
void entmax_loss_curvature(Input<Real> residual, PerRow alpha,
                           const std::type_identity_t<SoftTargets<Real>>& targets,
                           const LossCurvature<Real>& curvature) {
  run_curvature("entmax_loss_curvature", residual, alpha, Soft<Real>(targets, Loss::fenchel_young),
                curvature);
}

template <class Real>
void cross_omega_curvature(Input<Real> residual, PerRow alpha,
                           const std::type_identity_t<SoftTargets<Real>>& targets,
                           const LossCurvature<Real>& curvature) {
  run_curvature("cross_omega_curvature", residual, alpha, Soft<Real>(targets, Loss::cross_omega), curvature);
}

template <class Real>
void entmax_loss_hessian_product(Input<Real> scores, PerRow alpha, Input<Real> direction,
                                 Rows<Real> product) {
  constexpr auto kWhere = "entmax_loss_hessian_product";
  detail::check_view(kWhere, "scores", scores);
  detail::check_same_shape(kWhere, "direction", direction, "scores", scores);
  detail::check_same_shape(kWhere, "product", product, "scores", scores);
  detail::check_alpha(kWhere, alpha, scores.rows);
  const index_t cols = scores.cols;
  const int workers = workers_for(scores.rows, 3 * cols);
  const detail::Scratch memory(
      workers, detail::group_scratch_bytes<Real>(cols) + detail::jacobian_scratch_bytes<Real>(cols) +
                   detail::scratch_bytes<Real>(detail::most_in_group<Real>(cols) * cols));
  parallel_rows(scores.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    const auto map_scratch = detail::take_group_scratch<Real>(part, cols);
    const auto scratch = detail::take_jacobian_scratch<Real>(part, cols);
    const index_t most = detail::most_in_group<Real>(cols);
    const Rows<Real> p(part.take<Real>(most * cols), most, cols);
    for (index_t i = begin; i < end;) {
      const index_t count = detail::group_at(alpha, cols, i, end, detail::kGroup<Real>);
      detail::entmax_rows({scores.row(i), count, cols, scores.stride}, alpha[i], map_scratch,
                          {p.data, count, cols, p.stride}, nullptr,
                          {detail::rows_ahead(scores, i + count, end), {}});
      for (index_t k = 0; k < count; ++k, ++i)
        detail::jacobian_row(p.row(k), cols, alpha[i], direction.row(i), scratch, product.row(i));
    }
  });
}

template void entmax_loss(Input<float>, PerRow, const ClassTargets&, const LossOutputs<float>&);
template void entmax_loss(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&);
template void cross_omega(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&);
template void entmax_loss_vjp(Input<float>, PerRow, const ClassTargets&, std::span<const float>, Rows<float>);
template void entmax_loss_vjp(Input<float>, PerRow, const SoftTargets<float>&, std::span<const float>,
                              Rows<float>);
template void entmax_loss_hessian_product(Input<float>, PerRow, Input<float>, Rows<float>);
template void entmax_loss_curvature(Input<float>, PerRow, const ClassTargets&, const LossCurvature<float>&);
template void entmax_loss_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                    const LossCurvature<float>&);
template void cross_omega_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                    const LossCurvature<float>&);
template void entmax_loss(Input<double>, PerRow, const ClassTargets&, const LossOutputs<double>&);
template void entmax_loss(Input<double>, PerRow, const SoftTargets<double>&, const LossOutputs<double>&);
template void cross_omega(Input<double>, PerRow, const SoftTargets<double>&, const LossOutputs<double>&);
template void entmax_loss_vjp(Input<double>, PerRow, const ClassTargets&, std::span<const double>,
                              Rows<double>);
template void entmax_loss_vjp(Input<double>, PerRow, const SoftTargets<double>&, std::span<const double>,
                              Rows<double>);
template void entmax_loss_hessian_product(Input<double>, PerRow, Input<double>, Rows<double>);
template void entmax_loss_curvature(Input<double>, PerRow, const ClassTargets&, const LossCurvature<double>&);
template void entmax_loss_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                    const LossCurvature<double>&);
template void cross_omega_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                    const LossCurvature<double>&);

}  // namespace fenchel::cpu
