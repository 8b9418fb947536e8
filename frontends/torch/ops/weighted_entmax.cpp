#include <torch/csrc/stable/library.h>

#include <tuple>

#include "ops/targets.hpp"

/// entmax over weighted nodes, its losses and their derivatives.
namespace fenchel::ops {
namespace {

/// A tensor of the shape of the rows that may be absent: an empty view then.
class GivenRows {
 public:
  GivenRows(const char* name, const std::optional<Tensor>& x, const Tensor& like, std::int64_t dim,
            ScalarType type) {
    if (x) rows_.emplace(name, *x, like, dim, type);
  }
  template <class T>
  [[nodiscard]] Device::View<const T> rows() const {
    return rows_ ? rows_->template rows<T>() : Device::View<const T>();
  }

 private:
  std::optional<Device::Input> rows_;
};

/// A direction of scores, weight and alphas.
class Direction {
 public:
  Direction(const std::string& prefix, const std::optional<Tensor>& scores,
            const std::optional<Tensor>& weight, const std::optional<Tensor>& alphas, const Tensor& like,
            std::int64_t dim, ScalarType type)
      : scores_((prefix + "_scores").c_str(), scores, like, dim, type),
        weight_((prefix + "_weight").c_str(), weight, like, dim, type),
        alphas_((prefix + "_alphas").c_str(), alphas, like, dim) {}
  template <class T>
  [[nodiscard]] backend::NodeDirection<T> views() const {
    return {scores_.rows<T>(), weight_.rows<T>(), alphas_.values()};
  }

 private:
  GivenRows scores_, weight_;
  InputPerRow alphas_;
};

/// Tensors for scores, weight and alphas, of the rows' shape; those that are not wanted are empty.
class Gradient {
 public:
  Gradient(bool in_scores, bool in_weight, const std::optional<Tensor>& alphas, const Tensor& like,
           std::int64_t dim, ScalarType type, ScalarType stored)
      : like_(like), stored_(stored), alphas_(alphas, like, dim) {
    if (in_scores) scores_.emplace(like, dim, type, stored);
    if (in_weight) weight_.emplace(like, dim, type, stored);
  }
  template <class T>
  [[nodiscard]] backend::NodeGradient<T> views() const {
    return {scores_ ? scores_->template rows<T>() : Device::View<T>(),
            weight_ ? weight_->template rows<T>() : Device::View<T>(), alphas_.values()};
  }
  [[nodiscard]] std::tuple<Tensor, Tensor, Tensor> tensors() const {
    const auto tensor_of = [&](const std::optional<OutputRows>& rows) {
      return rows ? rows->tensor() : empty_rows(like_, {0}, -1, stored_);
    };
    return {tensor_of(scores_), tensor_of(weight_), alphas_.tensor()};
  }

 private:
  Tensor like_;
  ScalarType stored_;
  std::optional<OutputRows> scores_, weight_;
  OutputPerRow alphas_;
};

Tensor weighted_entmax(const Tensor& scores, const Tensor& weight, const std::optional<Tensor>& alphas,
                       double alpha, std::int64_t dim) {
  const Device device(scores, weight, alphas);
  const ScalarType type = Device::type_of("scores", scores);
  const Device::Input z("scores", scores, dim, type), w("weight", weight, scores, dim, type);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const OutputRows p(scores, dim, type);
  if (scores.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      const auto run = [](const auto&... a) { backend::weighted_entmax<T>(a...); };
      device.call(run, z.template rows<T>(), w.template rows<T>(), order.per_row(), p.template rows<T>());
    });
  }
  return p.tensor();
}

std::tuple<Tensor, Tensor, Tensor> weighted_entmax_vjp(const Tensor& p, const Tensor& weight,
                                                       const std::optional<Tensor>& alphas,
                                                       const Tensor& grad_p, double alpha, std::int64_t dim,
                                                       bool in_weight) {
  const Device device(p, weight, alphas, grad_p);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input masses("p", p, dim, type), w("weight", weight, p, dim, type),
      cotangent("grad_p", grad_p, p, dim, type);
  const Parameter order("alphas", alpha, alphas, p, dim);
  const Gradient gradient(true, in_weight, alphas, p, dim, type, p.scalar_type());
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      const auto run = [](const auto&... a) { backend::weighted_entmax_vjp<T>(a...); };
      device.call(run, masses.template rows<T>(), w.template rows<T>(), order.per_row(),
                  cotangent.template rows<T>(), gradient.views<T>());
    });
  }
  return gradient.tensors();
}

Tensor weighted_entmax_jvp(const Tensor& p, const Tensor& weight, const std::optional<Tensor>& alphas,
                           const std::optional<Tensor>& d_scores, const std::optional<Tensor>& d_weight,
                           const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim) {
  const Device device(p, weight, alphas, d_scores, d_weight, d_alphas);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input masses("p", p, dim, type), w("weight", weight, p, dim, type);
  const Parameter order("alphas", alpha, alphas, p, dim);
  const Direction direction("d", d_scores, d_weight, d_alphas, p, dim, type);
  const OutputRows d_p(p, dim, type);
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      const auto run = [](const auto&... a) { backend::weighted_entmax_jvp<T>(a...); };
      device.call(run, masses.template rows<T>(), w.template rows<T>(), order.per_row(), direction.views<T>(),
                  d_p.template rows<T>());
    });
  }
  return d_p.tensor();
}

std::tuple<Tensor, Tensor, Tensor> weighted_entmax_vjp_vjp(
    const Tensor& p, const Tensor& weight, const std::optional<Tensor>& alphas, const Tensor& grad_p,
    const std::optional<Tensor>& weight_scores, const std::optional<Tensor>& weight_weight,
    const std::optional<Tensor>& weight_alphas, double alpha, std::int64_t dim, bool in_weight) {
  const Device device(p, weight, alphas, grad_p, weight_scores, weight_weight, weight_alphas);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input masses("p", p, dim, type), w("weight", weight, p, dim, type),
      cotangent("grad_p", grad_p, p, dim, type);
  const Parameter order("alphas", alpha, alphas, p, dim);
  const Direction direction("weight", weight_scores, weight_weight, weight_alphas, p, dim, type);
  const Gradient product(true, in_weight, alphas, p, dim, type, p.scalar_type());
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      const auto run = [](const auto&... a) { backend::weighted_entmax_vjp_vjp<T>(a...); };
      device.call(run, masses.template rows<T>(), w.template rows<T>(), order.per_row(),
                  cotangent.template rows<T>(), direction.views<T>(), product.views<T>());
    });
  }
  return product.tensors();
}

std::tuple<Tensor, Tensor, Tensor, Tensor> weighted_entmax_loss(
    const Tensor& scores, const Tensor& weight, const std::optional<Tensor>& alphas,
    const std::optional<Tensor>& classes, const std::optional<Tensor>& soft, double alpha, std::int64_t dim,
    std::int64_t ignore_index, bool cross, bool gradient) {
  const Device device(scores, weight, alphas, classes, soft);
  const ScalarType type = computed_in("scores", scores);
  const Device::Input z("scores", scores, dim, type), w("weight", weight, scores, dim, type);
  if (scores.size(dim) == 0) refuse("scores", "have at least one class along dim", show(shape_of(scores)));
  const Targets targets(classes, soft, ignore_index, scores, dim, type);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const Tensor loss = empty_rows(scores, shape_per_row(scores, dim), dim, type);
  const Gradient slopes(gradient, gradient, gradient ? alphas : std::nullopt, scores, dim, type, type);
  if (scores.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      const backend::WeightedLossOutputs<Real> outputs{numbers_of<Real>(loss), slopes.views<Real>()};
      targets.visit<Real>(cross, [&](const auto& q, auto) {
        const auto run = [cross](const auto&... a) {
          cross ? backend::weighted_cross_omega<Real>(a...) : backend::weighted_entmax_loss<Real>(a...);
        };
        device.call(run, z.template rows<Real>(), w.template rows<Real>(), order.per_row(), q, outputs);
      });
    });
  }
  const auto [in_scores, in_weight, in_alphas] = slopes.tensors();
  return {loss, in_scores, in_weight, in_alphas};
}

std::tuple<Tensor, Tensor, Tensor> weighted_entmax_loss_curvature(
    const Tensor& residual, const Tensor& weight, const std::optional<Tensor>& alphas,
    const std::optional<Tensor>& classes, const std::optional<Tensor>& soft,
    const std::optional<Tensor>& d_scores, const std::optional<Tensor>& d_weight,
    const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim, std::int64_t ignore_index,
    bool cross) {
  const Device device(residual, weight, alphas, classes, soft, d_scores, d_weight, d_alphas);
  const ScalarType type = computed_in("residual", residual);
  const Device::Input rows("residual", residual, dim, type), w("weight", weight, residual, dim, type);
  const Targets targets(classes, soft, ignore_index, residual, dim, type);
  const Parameter order("alphas", alpha, alphas, residual, dim);
  const Direction direction("d", d_scores, d_weight, d_alphas, residual, dim, type);
  const Gradient product(true, true, alphas, residual, dim, type, residual.scalar_type());
  if (residual.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      targets.visit<Real>(cross, [&](const auto& q, auto) {
        const auto run = [cross](const auto&... a) {
          cross ? backend::weighted_cross_omega_curvature<Real>(a...)
                : backend::weighted_entmax_loss_curvature<Real>(a...);
        };
        device.call(run, rows.template rows<Real>(), w.template rows<Real>(), order.per_row(), q,
                    direction.views<Real>(), product.views<Real>());
      });
    });
  }
  return product.tensors();
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("weighted_entmax", TORCH_BOX(&weighted_entmax));
  m.impl("weighted_entmax_vjp", TORCH_BOX(&weighted_entmax_vjp));
  m.impl("weighted_entmax_jvp", TORCH_BOX(&weighted_entmax_jvp));
  m.impl("weighted_entmax_vjp_vjp", TORCH_BOX(&weighted_entmax_vjp_vjp));
  m.impl("weighted_entmax_loss", TORCH_BOX(&weighted_entmax_loss));
  m.impl("weighted_entmax_loss_curvature", TORCH_BOX(&weighted_entmax_loss_curvature));
}

}  // namespace fenchel::ops
