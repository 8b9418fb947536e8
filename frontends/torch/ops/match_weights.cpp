#include <torch/csrc/stable/library.h>

#include <optional>
#include <tuple>
#include <type_traits>

#include "ops/flat_tensors.hpp"

/// From weights to densities. A density is one row, mu and then Sigma: one tensor is what is differentiated.
namespace fenchel::ops {
namespace {

static_assert(std::is_same_v<index_t, std::int64_t>, "lengths are read in place");

/// The weights of an operation and where they lie.
class Weights {
 public:
  Weights(const Tensor& weights, const std::optional<Tensor>& alphas, const std::optional<Tensor>& points,
          const std::optional<Tensor>& lengths, double alpha)
      : type(computed_in("weights", weights)),
        batch(batch_of("weights", weights)),
        cols(weights.size(-1)),
        dimension(points ? points->numel() / cols : 1),
        weights_("weights", weights, extended(batch, {cols}), type),
        alphas_(given("alphas", alphas, batch, ScalarType::Double)),
        alpha_(alpha) {
    if (points) {
      static_cast<void>(batch_of("points", *points));
      points_.emplace("points", *points, Shape{cols, dimension}, ScalarType::Double);
    }
    if (lengths) {
      const Tensor& counts = of_type("lengths", *lengths, ScalarType::Long, "int64");
      lengths_.emplace("lengths", counts, batch, ScalarType::Long);
    }
  }
  template <class Real>
  [[nodiscard]] Device::View<const Real> rows() const {
    return weights_.rows<Real>(cols);
  }
  [[nodiscard]] backend::WeightPositions positions() const {
    return {rows_of<double>(points_, dimension), values_of<index_t>(lengths_)};
  }
  [[nodiscard]] PerRow alpha() const { return per_row(alpha_, alphas_); }
  /// Of a tensor of densities.
  [[nodiscard]] Shape shape() const { return extended(batch, {dimension + dimension * dimension}); }
  /// mu and Sigma of densities, which lie in one row.
  template <class Real, class Flat>
  [[nodiscard]] backend::DensityTangents<Real> parts(const Flat& densities) const {
    const index_t size = dimension + dimension * dimension;
    const auto rows = densities.template rows<std::remove_const_t<Real>>(size);
    return {.mu = {rows.data, rows.rows, dimension, size},
            .Sigma = {rows.data == nullptr ? nullptr : rows.data + dimension, rows.rows,
                      dimension * dimension, size}};
  }

  ScalarType type;
  Shape batch;
  index_t cols, dimension;

 private:
  FlatInput weights_;
  std::optional<FlatInput> alphas_, points_, lengths_;
  double alpha_;
};

[[nodiscard]] FlatOutput like_alphas(const Tensor& any, const std::optional<Tensor>& alphas,
                                     ScalarType type) {
  return {any, alphas ? shape_of(*alphas) : Shape{0}, type, ScalarType::Double};
}

Tensor match_weights(const Tensor& weights, const std::optional<Tensor>& alphas,
                     const std::optional<Tensor>& points, const std::optional<Tensor>& lengths, double alpha,
                     std::optional<double> floor) {
  const Device device(weights, alphas, points, lengths);
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatOutput density(weights, w.shape(), w.type, weights.scalar_type());
  visit_real(w.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::match_weights(a...); }, w.alpha(), w.rows<Real>(),
                w.positions(), floor, w.parts<Real>(density));
  });
  return density.tensor();
}

std::tuple<Tensor, Tensor> match_weights_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                             const std::optional<Tensor>& points,
                                             const std::optional<Tensor>& lengths, const Tensor& grad_density,
                                             double alpha, std::optional<double> floor) {
  const Device device(weights, alphas, points, lengths, grad_density);
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput cotangent("grad_density", grad_density, w.shape(), w.type);
  const FlatOutput gradient(weights, w.type), grad_alphas = like_alphas(weights, alphas, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::match_weights_vjp(a...); }, w.alpha(), w.rows<Real>(),
                w.positions(), floor, w.parts<const Real>(cotangent), gradient.rows<Real>(w.cols),
                grad_alphas.values<Real>());
  });
  return {gradient.tensor(), grad_alphas.tensor()};
}

Tensor match_weights_jvp(const Tensor& weights, const std::optional<Tensor>& alphas,
                         const std::optional<Tensor>& points, const std::optional<Tensor>& lengths,
                         const Tensor& d_weights, const std::optional<Tensor>& d_alphas, double alpha,
                         std::optional<double> floor) {
  const Device device(weights, alphas, points, lengths, d_weights, d_alphas);
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput direction("d_weights", d_weights, shape_of(weights), w.type);
  const auto of_alphas = given("d_alphas", d_alphas, w.batch, w.type);
  const FlatOutput tangent(weights, w.shape(), w.type, weights.scalar_type());
  visit_real(w.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::match_weights_jvp(a...); }, w.alpha(), w.rows<Real>(),
                w.positions(), floor, direction.rows<Real>(w.cols), values_of<Real>(of_alphas),
                w.parts<Real>(tangent));
  });
  return tangent.tensor();
}

std::tuple<Tensor, Tensor> match_weights_vjp_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& points,
                                                 const std::optional<Tensor>& lengths,
                                                 const Tensor& grad_density, const Tensor& weight_weights,
                                                 const std::optional<Tensor>& weight_alphas, double alpha,
                                                 std::optional<double> floor) {
  const Device device(weights, alphas, points, lengths, grad_density, weight_weights, weight_alphas);
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput cotangent("grad_density", grad_density, w.shape(), w.type),
      direction("weight_weights", weight_weights, shape_of(weights), w.type);
  const auto of_alphas = given("weight_alphas", weight_alphas, w.batch, w.type);
  const FlatOutput product(weights, w.type), product_alphas = like_alphas(weights, alphas, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::match_weights_vjp_vjp(a...); }, w.alpha(), w.rows<Real>(),
                w.positions(), floor, w.parts<const Real>(cotangent), direction.rows<Real>(w.cols),
                values_of<Real>(of_alphas), product.rows<Real>(w.cols), product_alphas.values<Real>());
  });
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("match_weights", TORCH_BOX(&match_weights));
  m.impl("match_weights_vjp", TORCH_BOX(&match_weights_vjp));
  m.impl("match_weights_jvp", TORCH_BOX(&match_weights_jvp));
  m.impl("match_weights_vjp_vjp", TORCH_BOX(&match_weights_vjp_vjp));
}

}  // namespace fenchel::ops
