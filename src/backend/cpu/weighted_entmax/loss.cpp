#include "backend/weighted_entmax/loss.hpp"

#include "backend/cpu/loss_rows.hpp"
#include "backend/cpu/weighted_entmax/rows.hpp"
#include "core/columns.hpp"

namespace fenchel::cpu {
namespace {

template <class Real, class Target>
void run(std::string_view where, Rows<const Real> scores, Rows<const Real> weights, PerRow alpha,
         const Target& target, bool cross, const WeightedLossOutputs<Real>& outputs) {
  detail::check_view(where, "scores", scores);
  detail::check_alpha(where, alpha, scores.rows);
  detail::check_node_weights(where, weights, "scores", scores);
  detail::check_gradient(where, "gradient", outputs.gradient, "scores", scores);
  const Rows<Real> in_weights = outputs.gradient.weights;
  if (in_weights.data != nullptr) {  // of ignored rows
    for (index_t i = 0; i < scores.rows; ++i) std::ranges::fill(in_weights[i], Real(0));
  }
  const index_t cols = scores.cols;
  detail::run_loss_rows(
      where, scores, target, LossOutputs<Real>{outputs.loss, outputs.gradient.scores, outputs.gradient.alpha},
      100 * cols, detail::node_scratch_bytes(cols),
      [cols](auto& part) { return detail::take_node_scratch(part, cols); },
      [&](index_t i, const detail::NodeScratch& scratch, std::span<Real> p) noexcept {
        const auto map =
            detail::weighted_entmax_row(scores.row(i), weights.row(i), cols, alpha[i], scratch, p.data());
        if (std::isnan(map.top)) {
          if (in_weights.data != nullptr) std::ranges::copy(p, in_weights.row(i));
          return detail::RowLoss{map.top, map.top};
        }
        detail::RowLoss loss{0, 0};
        for (index_t j = 0; j < cols; ++j) {
          const detail::LossNode node{alpha[i] - 1,
                                      scratch.w[j],
                                      target.at(i, j),
                                      double{p[static_cast<std::size_t>(j)]},
                                      scratch.d[j] - map.normalization.offset,
                                      cross};
          if (!outputs.loss.empty()) loss.value += node.loss();
          if (!outputs.gradient.alpha.empty()) loss.slope += node.in_alpha();
          if (in_weights.data != nullptr)
            in_weights.row(i)[j] = detail::RowGradient<Real>::saturated(node.in_weight());
        }
        return loss;
      });
}

template <class Real, class Target>
void run_curvature(std::string_view where, Rows<const Real> residual, Rows<const Real> weights, PerRow alpha,
                   const Target& target, bool cross, const NodeDirection<Real>& direction,
                   const NodeGradient<Real>& product) {
  detail::check_view(where, "residual", residual);
  detail::check_alpha(where, alpha, residual.rows);
  detail::check_node_weights(where, weights, "residual", residual);
  detail::check_direction(where, direction, "residual", residual);
  detail::check_gradient(where, "product", product, "residual", residual);
  target.check(where, residual);
  const index_t cols = residual.cols;
  const int workers = workers_for(residual.rows, 100 * cols);
  const detail::Scratch memory(workers, detail::scratch_bytes<Real>(cols));
  parallel_rows(residual.rows, workers, [&](index_t begin, index_t end, int worker) noexcept {
    auto part = memory.of(worker);
    Real* const p = part.take<Real>(cols);
    detail::AllColumns columns(cols);
    for (index_t i = begin; i < end; ++i) {
      const detail::RowGradient<Real> write(product, i);
      double in_alpha = 0;
      if (target.ignored(i)) {
        for (index_t j = 0; j < cols; ++j) write(j, 0, 0);
      } else {
        for (index_t j = 0; j < cols; ++j) p[j] = static_cast<Real>(residual.row(i)[j] + target.at(i, j));
        in_alpha = detail::weighted_curvature(
            alpha[i] - 1, cross, columns, detail::RowNodes<Real>{weights.row(i), p},
            [&target, i](index_t j) { return target.at(i, j); },
            detail::RowDirection<Real>(direction, i, alpha[i]), write);
      }
      if (!product.alpha.empty()) product.alpha[static_cast<std::size_t>(i)] = in_alpha;
    }
  });
}

}  // namespace

/// A loss and its curvature, for one kind of targets.
#define FENCHEL_LOSS(name, cross, TargetRows, ...)                                                           \
  template <class Real>                                                                                      \
  void name(Input<Real> scores, Input<Real> weights, PerRow alpha, const __VA_ARGS__& targets,               \
            const WeightedLossOutputs<Real>& outputs) {                                                      \
    run<Real>(#name, scores, weights, alpha, TargetRows<Real>(targets), cross, outputs);                     \
  }                                                                                                          \
  template <class Real>                                                                                      \
  void name##_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha, const __VA_ARGS__& targets, \
                        const std::type_identity_t<NodeDirection<Real>>& direction,                          \
                        const NodeGradient<Real>& product) {                                                 \
    run_curvature<Real>(#name "_curvature", residual, weights, alpha, TargetRows<Real>(targets), cross,      \
                        direction, product);                                                                 \
  }
FENCHEL_LOSS(weighted_entmax_loss, false, detail::ClassRows, ClassTargets)
FENCHEL_LOSS(weighted_entmax_loss, false, detail::SoftRows, std::type_identity_t<SoftTargets<Real>>)
FENCHEL_LOSS(weighted_cross_omega, true, detail::ClassRows, ClassTargets)
FENCHEL_LOSS(weighted_cross_omega, true, detail::SoftRows, std::type_identity_t<SoftTargets<Real>>)
#undef FENCHEL_LOSS

#define FENCHEL_INSTANTIATE(name, Real, Targets)                                                          \
  template void name(Input<Real>, Input<Real>, PerRow, const Targets&, const WeightedLossOutputs<Real>&); \
  template void name##_curvature(Input<Real>, Input<Real>, PerRow, const Targets&,                        \
                                 const NodeDirection<Real>&, const NodeGradient<Real>&);
FENCHEL_INSTANTIATE(weighted_entmax_loss, float, ClassTargets)
FENCHEL_INSTANTIATE(weighted_entmax_loss, float, SoftTargets<float>)
FENCHEL_INSTANTIATE(weighted_cross_omega, float, ClassTargets)
FENCHEL_INSTANTIATE(weighted_cross_omega, float, SoftTargets<float>)
FENCHEL_INSTANTIATE(weighted_entmax_loss, double, ClassTargets)
FENCHEL_INSTANTIATE(weighted_entmax_loss, double, SoftTargets<double>)
FENCHEL_INSTANTIATE(weighted_cross_omega, double, ClassTargets)
FENCHEL_INSTANTIATE(weighted_cross_omega, double, SoftTargets<double>)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cpu
