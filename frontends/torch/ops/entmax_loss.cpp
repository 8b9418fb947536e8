#include "ops/entmax_loss.hpp"

#include <torch/csrc/stable/library.h>

#include <tuple>
#include <type_traits>

/// The losses of entmax and their second derivatives.
namespace fenchel::ops {
namespace {

/// The type that scores are given to the library in. It reads distributions in the same type, and those of 16
/// bits are too coarse.
ScalarType type_of_rows(const Tensor& scores, const std::optional<Tensor>& soft) {
  return soft ? computed_in("scores", scores) : Device::type_of("scores", scores);
}

}  // namespace

std::pair<Tensor, Tensor> write_entmax_losses(const Device& device, const Tensor& scores,
                                              const std::optional<Tensor>& alphas, const Targets& targets,
                                              double alpha, std::int64_t dim, ScalarType type, bool cross,
                                              bool gradient, void* loss) {
  const Device::Input z("scores", scores, dim, type);
  const std::int64_t cols = scores.size(dim);
  if (cols == 0) refuse("scores", "have at least one class along dim", show(shape_of(scores)));
  const std::int64_t count = scores.numel() / cols;
  const ScalarType computed = computed_in("scores", scores);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const Tensor residual =
      gradient ? empty_rows(scores, shape_of(scores), dim, computed) : empty_rows(scores, {0}, -1, computed);
  const OutputPerRow slope(gradient ? alphas : std::nullopt, scores, dim);
  if (count > 0) {
    Device::visit(type, [&]<class T>(T) {
      using Real = RealOf<T>;
      using View = Device::View<Real>;
      const backend::LossOutputs<T> outputs{
          {static_cast<Real*>(loss), static_cast<std::size_t>(count)},
          gradient ? View(static_cast<Real*>(residual.mutable_data_ptr()), count, cols) : View(),
          slope.values()};
      targets.visit<T>(cross, [&](const auto& q, auto without_omega) {
        const auto run = [](const auto&... a) {
          if constexpr (decltype(without_omega)::value) {
            backend::cross_omega(a...);
          } else {
            backend::entmax_loss(a...);
          }
        };
        device.call(run, z.template rows<T>(), order.per_row(), q, outputs);
      });
    });
  }
  return {residual, slope.tensor()};
}

namespace {

std::tuple<Tensor, Tensor, Tensor> entmax_loss(const Tensor& scores, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               bool gradient) {
  const Device device = Device::of_rows(scores, alphas, classes, soft);
  const ScalarType type = type_of_rows(scores, soft);
  const Targets targets(classes, soft, ignore_index, scores, checked_dim("scores", scores, dim), type);
  const Tensor loss = empty_rows(scores, shape_per_row(scores, dim), dim, computed_in("scores", scores));
  auto [residual, slope] = write_entmax_losses(device, scores, alphas, targets, alpha, dim, type, cross,
                                               gradient, loss.mutable_data_ptr());
  return {loss, residual, slope};
}

Tensor entmax_loss_vjp(const Tensor& scores, const std::optional<Tensor>& alphas,
                       const std::optional<Tensor>& classes, const std::optional<Tensor>& soft,
                       const Tensor& grad_loss, double alpha, std::int64_t dim, std::int64_t ignore_index) {
  const Device device = Device::of_rows(scores, alphas, classes, soft, grad_loss);
  const ScalarType type = type_of_rows(scores, soft);
  const Device::Input z("scores", scores, dim, type);
  const Targets targets(classes, soft, ignore_index, scores, dim, type);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const Tensor weights =
      contiguous_rows(converted("grad_loss", checked("grad_loss", grad_loss, shape_per_row(scores, dim)),
                                computed_in("scores", scores)),
                      dim);
  const OutputRows grad_scores(scores, dim, type);
  if (scores.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      targets.visit<T>(false, [&](const auto& q, auto) {
        const auto run = [](const auto&... a) { backend::entmax_loss_vjp<T>(a...); };
        device.call(run, z.template rows<T>(), order.per_row(), q, numbers_of<const RealOf<T>>(weights),
                    grad_scores.template rows<T>());
      });
    });
  }
  return grad_scores.tensor();
}

std::tuple<Tensor, Tensor> entmax_loss_curvature(const Tensor& residual, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& classes,
                                                 const std::optional<Tensor>& soft, const Tensor& d_scores,
                                                 const std::optional<Tensor>& d_alphas, double alpha,
                                                 std::int64_t dim, std::int64_t ignore_index, bool cross) {
  const Device device = Device::of_rows(residual, alphas, classes, soft, d_scores, d_alphas);
  const ScalarType type = computed_in("residual", residual);
  const Device::Input rows("residual", residual, dim, type),
      direction("d_scores", d_scores, residual, dim, type);
  const Targets targets(classes, soft, ignore_index, residual, dim, type);
  const Parameter order("alphas", alpha, alphas, residual, dim);
  const InputPerRow d_order("d_alphas", d_alphas, residual, dim);
  const OutputRows product(residual, dim, type);
  const OutputPerRow product_alphas(alphas, residual, dim);
  if (residual.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      const backend::LossCurvature<Real> curvature{direction.template rows<Real>(), d_order.values(),
                                                   product.template rows<Real>(), product_alphas.values()};
      targets.visit<Real>(cross, [&](const auto& q, auto without_omega) {
        const auto run = [](const auto&... a) {
          if constexpr (decltype(without_omega)::value) {
            backend::cross_omega_curvature(a...);
          } else {
            backend::entmax_loss_curvature(a...);
          }
        };
        device.call(run, rows.template rows<Real>(), order.per_row(), q, curvature);
      });
    });
  }
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("entmax_loss", TORCH_BOX(&entmax_loss));
  m.impl("entmax_loss_vjp", TORCH_BOX(&entmax_loss_vjp));
  m.impl("entmax_loss_curvature", TORCH_BOX(&entmax_loss_curvature));
}

}  // namespace fenchel::ops
