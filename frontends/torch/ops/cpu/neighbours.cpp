#include <torch/csrc/stable/library.h>

#include <tuple>

#include "fenchel/backend/cpu/fusedmax_grid.hpp"
#include "fenchel/backend/cpu/smooth_sparsemax.hpp"
#include "ops/row_map.hpp"
#include "ops/targets.hpp"

/// Maps whose columns are neighbours, on chains and in images, and their losses.
namespace fenchel::ops {
namespace {

using Optional = std::optional<Tensor>;
using Pair = std::tuple<Tensor, Tensor>;
using Triple = std::tuple<Tensor, Tensor, Tensor>;

Tensor smooth_sparsemax(const Tensor& scores, const Optional& gammas, const Optional& lengths,
                        const Optional& weights, double gamma, std::int64_t dim) {
  const ChainRows chain(lengths, weights, scores, dim);
  return row_map("gammas", scores, gammas, gamma, dim,
                 [&](const auto&... a) { cpu::smooth_sparsemax(a..., chain.view()); });
}

Pair smooth_sparsemax_vjp(const Tensor& p, const Optional& gammas, const Optional& lengths,
                          const Optional& weights, const Tensor& grad_p, double gamma, std::int64_t dim) {
  const ChainRows chain(lengths, weights, p, dim);
  return row_map_vjp("gammas", p, gammas, grad_p, gamma, dim,
                     [&](const auto&... a) { cpu::smooth_sparsemax_vjp(a..., chain.view()); });
}

Tensor smooth_sparsemax_jvp(const Tensor& p, const Optional& gammas, const Optional& lengths,
                            const Optional& weights, const Tensor& d_scores, const Optional& d_gammas,
                            double gamma, std::int64_t dim) {
  const ChainRows chain(lengths, weights, p, dim);
  return row_map_jvp("gammas", p, gammas, d_scores, d_gammas, gamma, dim,
                     [&](const auto&... a) { cpu::smooth_sparsemax_jvp(a..., chain.view()); });
}

Pair smooth_sparsemax_vjp_vjp(const Tensor& p, const Optional& gammas, const Optional& lengths,
                              const Optional& weights, const Tensor& grad_p, const Tensor& weight_scores,
                              const Optional& weight_gammas, double gamma, std::int64_t dim) {
  const ChainRows chain(lengths, weights, p, dim);
  return row_map_vjp_vjp("gammas", p, gammas, grad_p, weight_scores, weight_gammas, gamma, dim,
                         [&](const auto&... a) { cpu::smooth_sparsemax_vjp_vjp(a..., chain.view()); });
}

Pair smooth_sparsemax_loss_curvature(const Tensor& p, const Optional& gammas, const Optional& lengths,
                                     const Optional& weights, const Tensor& d_scores,
                                     const Optional& d_gammas, double gamma, std::int64_t dim) {
  const ChainRows chain(lengths, weights, p, dim);
  // As the second derivative of the map, whose cotangent is not there.
  return row_map_vjp_vjp("gammas", p, gammas, d_scores, d_scores, d_gammas, gamma, dim,
                         [&](const auto& at, const auto& order, const auto&, const auto&... a) {
                           cpu::smooth_sparsemax_loss_curvature(at, order, a..., chain.view());
                         });
}

Tensor fusedmax_grid(const Tensor& scores, const Optional& gammas, double gamma, std::int64_t height,
                     std::int64_t dim) {
  return row_map("gammas", scores, gammas, gamma, dim,
                 [=](const auto& z, const auto&... a) { cpu::fusedmax_grid(z, height, a...); });
}

Pair fusedmax_grid_vjp(const Tensor& p, const Optional& gammas, const Tensor& grad_p, double gamma,
                       std::int64_t height, std::int64_t dim) {
  return row_map_vjp("gammas", p, gammas, grad_p, gamma, dim,
                     [=](const auto& at, const auto&... a) { cpu::fusedmax_grid_vjp(at, height, a...); });
}

Tensor fusedmax_grid_jvp(const Tensor& p, const Optional& gammas, const Tensor& d_scores,
                         const Optional& d_gammas, double gamma, std::int64_t height, std::int64_t dim) {
  return row_map_jvp("gammas", p, gammas, d_scores, d_gammas, gamma, dim,
                     [=](const auto& at, const auto&... a) { cpu::fusedmax_grid_jvp(at, height, a...); });
}

/// loss(scores, gamma, targets, outputs)
template <class Loss>
Triple row_loss(const Tensor& scores, const Optional& gammas, const Optional& classes, const Optional& soft,
                double gamma, std::int64_t ignore_index, std::int64_t dim, const Loss& loss) {
  const Device device(scores, gammas, classes, soft);
  const ScalarType type = computed_in("scores", scores);
  const InputRows z("scores", scores, dim, type);
  const Targets targets(classes, soft, ignore_index, scores, dim, type);
  const Parameter strength("gammas", gamma, gammas, scores, dim);
  const Tensor value = empty_rows(scores, shape_per_row(scores, dim), dim, type),
               residual = empty_rows(scores, shape_of(scores), dim, type);
  const OutputPerRow slope(gammas, scores, dim);
  if (scores.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      const Rows<Real> residuals(static_cast<Real*>(residual.mutable_data_ptr()), value.numel(),
                                 scores.size(dim));
      const cpu::LossOutputs<Real> outputs{numbers_of<Real>(value), residuals, slope.values()};
      targets.visit<Real>(false,
                          [&](const auto& q, auto) { loss(z.rows<Real>(), strength.per_row(), q, outputs); });
    });
  }
  return {value, residual, slope.tensor()};
}

Triple fusedmax_loss(const Tensor& scores, const Optional& gammas, const Optional& classes,
                     const Optional& soft, const Optional& lengths, const Optional& weights, double gamma,
                     std::int64_t ignore_index, std::int64_t dim) {
  const ChainRows chain(lengths, weights, scores, dim);
  return row_loss(scores, gammas, classes, soft, gamma, ignore_index, dim,
                  [&](const auto&... a) { cpu::fusedmax_loss(a..., chain.view()); });
}

Triple smooth_sparsemax_loss(const Tensor& scores, const Optional& gammas, const Optional& classes,
                             const Optional& soft, const Optional& lengths, const Optional& weights,
                             double gamma, std::int64_t ignore_index, std::int64_t dim) {
  const ChainRows chain(lengths, weights, scores, dim);
  return row_loss(scores, gammas, classes, soft, gamma, ignore_index, dim,
                  [&](const auto&... a) { cpu::smooth_sparsemax_loss(a..., chain.view()); });
}

Triple fusedmax_grid_loss(const Tensor& scores, const Optional& gammas, const Optional& classes,
                          const Optional& soft, double gamma, std::int64_t height, std::int64_t ignore_index,
                          std::int64_t dim) {
  return row_loss(scores, gammas, classes, soft, gamma, ignore_index, dim,
                  [=](const auto& z, const auto&... a) { cpu::fusedmax_grid_loss(z, height, a...); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("smooth_sparsemax", TORCH_BOX(&smooth_sparsemax));
  m.impl("smooth_sparsemax_vjp", TORCH_BOX(&smooth_sparsemax_vjp));
  m.impl("smooth_sparsemax_jvp", TORCH_BOX(&smooth_sparsemax_jvp));
  m.impl("smooth_sparsemax_vjp_vjp", TORCH_BOX(&smooth_sparsemax_vjp_vjp));
  m.impl("smooth_sparsemax_loss", TORCH_BOX(&smooth_sparsemax_loss));
  m.impl("smooth_sparsemax_loss_curvature", TORCH_BOX(&smooth_sparsemax_loss_curvature));
  m.impl("fusedmax_grid", TORCH_BOX(&fusedmax_grid));
  m.impl("fusedmax_grid_vjp", TORCH_BOX(&fusedmax_grid_vjp));
  m.impl("fusedmax_grid_jvp", TORCH_BOX(&fusedmax_grid_jvp));
  m.impl("fusedmax_grid_loss", TORCH_BOX(&fusedmax_grid_loss));
  m.impl("fusedmax_loss", TORCH_BOX(&fusedmax_loss));
}

}  // namespace fenchel::ops
