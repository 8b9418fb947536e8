#pragma once

#include <tuple>
#include <type_traits>

#include "fenchel/core/index.hpp"
#include "ops/tensors.hpp"

/// The losses of entmax and their second derivatives, on a Device (ops/cpu.hpp, ops/cuda/device.hpp).
namespace fenchel::ops {

/// A class a row, or a distribution a row.
template <class Device>
class Targets {
 public:
  Targets(const std::optional<Tensor>& classes, const std::optional<Tensor>& soft, std::int64_t ignore_index,
          bool leave_out_omega, const Tensor& scores, std::int64_t dim, ScalarType type)
      : ignored(ignore_index), cross(leave_out_omega) {
    if (classes.has_value() == soft.has_value()) {
      throw std::invalid_argument("fenchel: either classes or soft must be given");
    }
    if (classes) {
      const Tensor& one_each = of_type("classes", *classes, ScalarType::Long, "int64");
      classes_ = contiguous_rows(checked("classes", one_each, shape_per_row(scores, dim)), dim);
    }
    if (soft) soft_.emplace("soft", *soft, scores, dim, type);
  }
  [[nodiscard]] bool soft() const { return soft_.has_value(); }
  [[nodiscard]] std::span<const index_t> classes() const {
    return {static_cast<const index_t*>(classes_->const_data_ptr()),
            static_cast<std::size_t>(classes_->numel())};
  }
  template <class T>
  [[nodiscard]] auto distributions() const {
    return soft_->template rows<T>();
  }

  index_t ignored;
  bool cross;

 private:
  std::optional<Tensor> classes_;
  std::optional<typename Device::Input> soft_;
};

/// What rows of a storage type T are computed in.
template <class T>
using RealOf = std::conditional_t<std::is_same_v<T, double>, double, float>;

/// loss_of(scores, alpha, targets, losses, residual, grad_alphas): the last two may be empty.
template <class Device, class Loss>
std::tuple<Tensor, Tensor, Tensor> loss_rows(const Tensor& scores, const std::optional<Tensor>& alphas,
                                             const std::optional<Tensor>& classes,
                                             const std::optional<Tensor>& soft, double alpha,
                                             std::int64_t dim, std::int64_t ignore_index, bool cross,
                                             bool gradient, const Loss& loss_of) {
  const Device device(scores, alphas, classes, soft);
  const ScalarType computed = computed_in("scores", scores);
  // Distributions are read in the type of the scores, and those of 16 bits are too coarse.
  const ScalarType type = soft ? computed : Device::type_of("scores", scores);
  const typename Device::Input z("scores", scores, dim, type);
  if (scores.size(dim) == 0) refuse("scores", "have at least one class along dim", show(shape_of(scores)));
  const Targets<Device> targets(classes, soft, ignore_index, cross, scores, dim, type);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const Tensor residual =
      gradient ? empty_rows(scores, shape_of(scores), dim, computed) : empty_rows(scores, {0}, -1, computed);
  const Tensor loss = empty_rows(scores, shape_per_row(scores, dim), dim, computed);
  const OutputPerRow slope(gradient ? alphas : std::nullopt, scores, dim);
  if (scores.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      using View = typename Device::template View<RealOf<T>>;
      const auto data = [](const Tensor& x) { return static_cast<RealOf<T>*>(x.mutable_data_ptr()); };
      const index_t rows = loss.numel();
      const std::span<RealOf<T>> losses(data(loss), static_cast<std::size_t>(rows));
      device.call(loss_of, z.template rows<T>(), order.per_row<Device>(), targets, losses,
                  gradient ? View(data(residual), rows, scores.size(dim)) : View(), slope.values());
    });
  }
  return {loss, residual, slope.tensor()};
}

/// curvature(residual, alpha, targets, d_scores, d_alphas, product, product_alphas)
template <class Device, class Curvature>
std::tuple<Tensor, Tensor> loss_curvature_rows(const Tensor& residual, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, const Tensor& d_scores,
                                               const std::optional<Tensor>& d_alphas, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               const Curvature& curvature) {
  const Device device(residual, alphas, classes, soft, d_scores, d_alphas);
  const ScalarType type = computed_in("residual", residual);
  const typename Device::Input rows("residual", residual, dim, type),
      direction("d_scores", d_scores, residual, dim, type);
  const Targets<Device> targets(classes, soft, ignore_index, cross, residual, dim, type);
  const Parameter order("alphas", alpha, alphas, residual, dim);
  const InputPerRow d_order("d_alphas", d_alphas, residual, dim);
  const typename Device::Output product(residual, dim, type);
  const OutputPerRow product_alphas(alphas, residual, dim);
  if (residual.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      device.call(curvature, rows.template rows<Real>(), order.per_row<Device>(), targets,
                  direction.template rows<Real>(), d_order.values(), product.template rows<Real>(),
                  product_alphas.values());
    });
  }
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace fenchel::ops
