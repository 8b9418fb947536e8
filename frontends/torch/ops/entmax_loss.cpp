#include <torch/csrc/stable/library.h>

#include <tuple>

#include "fenchel/backend/fenchel_young.hpp"
#include "ops/row_tensors.hpp"
#include "ops/torch_pool.hpp"

/// The losses of entmax, and their second derivatives.
namespace fenchel::ops {
namespace {

/// A class a row, or a distribution a row.
class Targets {
 public:
  Targets(const std::optional<Tensor>& classes, const std::optional<Tensor>& soft, std::int64_t ignored,
          const Tensor& scores, std::int64_t dim, ScalarType type)
      : ignored_(ignored) {
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
  [[nodiscard]] cpu::ClassTargets one_class() const {
    return {{static_cast<const index_t*>(classes_->const_data_ptr()),
             static_cast<std::size_t>(classes_->numel())},
            ignored_};
  }
  template <class Real>
  [[nodiscard]] cpu::SoftTargets<Real> distributions() const {
    return {soft_->rows<Real>()};
  }

 private:
  std::optional<Tensor> classes_;
  std::optional<InputRows> soft_;
  index_t ignored_;
};

std::tuple<Tensor, Tensor, Tensor> entmax_loss(const Tensor& scores, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               bool gradient) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("scores", scores);
  const InputRows z("scores", scores, dim, type);
  if (scores.size(dim) == 0) refuse("scores", "have at least one class along dim", show(shape_of(scores)));
  const Targets targets(classes, soft, ignore_index, scores, dim, type);
  const Parameter order("alphas", alpha, alphas, scores, dim);
  const Tensor residual =
      gradient ? empty_rows(scores, shape_of(scores), dim, type) : empty_rows(scores, {0}, -1, type);
  const Tensor loss = empty_rows(scores, shape_per_row(scores, dim), dim, type);
  const OutputPerRow slope(gradient ? alphas : std::nullopt, scores, dim);
  if (scores.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      const index_t rows = loss.numel(), cols = scores.size(dim);
      const auto data = [](const Tensor& x) { return static_cast<Real*>(x.mutable_data_ptr()); };
      const cpu::LossOutputs<Real> outputs{{data(loss), static_cast<std::size_t>(rows)},
                                           gradient ? Rows<Real>(data(residual), rows, cols) : Rows<Real>(),
                                           slope.values()};
      constexpr auto kNone = cpu::Reduction::none;
      if (!targets.soft()) {
        cpu::fenchel_young(z.rows<Real>(), order.per_row(), targets.one_class(), kNone, outputs);
      } else if (cross) {
        cpu::cross_omega(z.rows<Real>(), order.per_row(), targets.distributions<Real>(), kNone, outputs);
      } else {
        cpu::fenchel_young(z.rows<Real>(), order.per_row(), targets.distributions<Real>(), kNone, outputs);
      }
    });
  }
  return {loss, residual, slope.tensor()};
}

std::tuple<Tensor, Tensor> entmax_loss_curvature(const Tensor& residual, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& classes,
                                                 const std::optional<Tensor>& soft, const Tensor& d_scores,
                                                 const std::optional<Tensor>& d_alphas, double alpha,
                                                 std::int64_t dim, std::int64_t ignore_index, bool cross) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("residual", residual);
  const InputRows rows("residual", residual, dim, type), direction("d_scores", d_scores, residual, dim, type);
  const Targets targets(classes, soft, ignore_index, residual, dim, type);
  const Parameter order("alphas", alpha, alphas, residual, dim);
  const InputPerRow d_order("d_alphas", d_alphas, residual, dim);
  const OutputRows product(residual, dim, type);
  const OutputPerRow product_alphas(alphas, residual, dim);
  if (residual.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      const cpu::LossCurvature<Real> curvature{direction.rows<Real>(), d_order.values(), product.rows<Real>(),
                                               product_alphas.values()};
      if (!targets.soft()) {
        cpu::fenchel_young_curvature(rows.rows<Real>(), order.per_row(), targets.one_class(), curvature);
      } else if (cross) {
        cpu::cross_omega_curvature(rows.rows<Real>(), order.per_row(), targets.distributions<Real>(),
                                   curvature);
      } else {
        cpu::fenchel_young_curvature(rows.rows<Real>(), order.per_row(), targets.distributions<Real>(),
                                     curvature);
      }
    });
  }
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("entmax_loss", TORCH_BOX(&entmax_loss));
  m.impl("entmax_loss_curvature", TORCH_BOX(&entmax_loss_curvature));
}

}  // namespace fenchel::ops
