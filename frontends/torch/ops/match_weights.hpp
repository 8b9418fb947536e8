#pragma once

#include <optional>
#include <span>
#include <tuple>
#include <type_traits>

#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"
#include "ops/flat_tensors.hpp"

/// From weights to densities, by the Kernels of a device. A density is one row, mu and then Sigma: one tensor
/// is what is differentiated.
namespace fenchel::ops {

/// The weights of an operation and where they lie.
template <class Kernels>
class Weights {
 public:
  Weights(const Tensor& weights, const std::optional<Tensor>& alphas, const std::optional<Tensor>& points,
          const std::optional<Tensor>& lengths, double alpha)
      : type(computed_in("weights", weights)),
        batch(batch_of("weights", weights)),
        cols(weights.size(-1)),
        dimension(points ? points->numel() / cols : 1),
        weights_("weights", weights, extended(batch, {cols}), type),
        alpha_(alpha) {
    if (points) {
      static_cast<void>(batch_of("points", *points));
      points_.emplace("points", *points, Shape{cols, dimension}, ScalarType::Double);
    }
    if (alphas) alphas_.emplace("alphas", *alphas, batch, ScalarType::Double);
    if (lengths) {
      const Tensor& counts = of_type("lengths", *lengths, ScalarType::Long, "int64");
      lengths_.emplace("lengths", counts, batch, ScalarType::Long);
    }
  }
  template <class Real>
  [[nodiscard]] Rows<const Real> rows() const {
    return weights_.rows<Real>(cols);
  }
  [[nodiscard]] auto positions() const {
    return Kernels::positions(points_ ? points_->rows<double>(dimension) : Rows<const double>(),
                              lengths_ ? numbers(lengths_->rows<index_t>(1)) : std::span<const index_t>());
  }
  [[nodiscard]] typename Kernels::PerRow alpha() const {
    using PerRow = typename Kernels::PerRow;
    return alphas_ ? Kernels::per_row(numbers(alphas_->rows<double>(1))) : PerRow(alpha_);
  }

  ScalarType type;
  Shape batch;
  index_t cols, dimension;

 private:
  FlatInput weights_;
  std::optional<FlatInput> alphas_, points_, lengths_;
  double alpha_;
};

static_assert(std::is_same_v<index_t, std::int64_t>, "lengths are read in place");

/// A number for each density, to read or to write, or none.
[[nodiscard]] inline std::optional<FlatInput> per_density(const char* name, const std::optional<Tensor>& x,
                                                          const Shape& batch, ScalarType type) {
  return x ? std::make_optional<FlatInput>(name, *x, batch, type) : std::nullopt;
}
template <class Real>
[[nodiscard]] std::span<const Real> values(const std::optional<FlatInput>& x) {
  return x ? numbers(x->rows<Real>(1)) : std::span<const Real>();
}
[[nodiscard]] inline FlatOutput like_alphas(const Tensor& any, const std::optional<Tensor>& alphas,
                                            ScalarType type) {
  return {any, alphas ? shape_of(*alphas) : Shape{0}, type, ScalarType::Double};
}

template <class Kernels>
Tensor match_weights(const Tensor& weights, const std::optional<Tensor>& alphas,
                     const std::optional<Tensor>& points, const std::optional<Tensor>& lengths, double alpha,
                     std::optional<double> floor) {
  const Kernels kernels(weights, alphas, points, lengths);
  const Weights<Kernels> w(weights, alphas, points, lengths, alpha);
  const typename Kernels::DensityOutput density(weights, w.batch, w.dimension, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    kernels.match(w.template rows<Real>(), w.positions(), w.alpha(), floor, density.template parts<Real>());
  });
  return density.tensor();
}

template <class Kernels>
std::tuple<Tensor, Tensor> match_weights_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                             const std::optional<Tensor>& points,
                                             const std::optional<Tensor>& lengths, const Tensor& grad_density,
                                             double alpha, std::optional<double> floor) {
  const Kernels kernels(weights, alphas, points, lengths, grad_density);
  const Weights<Kernels> w(weights, alphas, points, lengths, alpha);
  const typename Kernels::DensityInput cotangent(grad_density, w.batch, w.dimension, w.type);
  const FlatOutput gradient(weights, w.type), grad_alphas = like_alphas(weights, alphas, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    kernels.match_vjp(w.template rows<Real>(), w.positions(), w.alpha(), floor,
                      cotangent.template parts<Real>(), gradient.rows<Real>(w.cols),
                      numbers(grad_alphas.rows<Real>(1)));
  });
  return {gradient.tensor(), grad_alphas.tensor()};
}

template <class Kernels>
Tensor match_weights_jvp(const Tensor& weights, const std::optional<Tensor>& alphas,
                         const std::optional<Tensor>& points, const std::optional<Tensor>& lengths,
                         const Tensor& d_weights, const std::optional<Tensor>& d_alphas, double alpha,
                         std::optional<double> floor) {
  const Kernels kernels(weights, alphas, points, lengths, d_weights, d_alphas);
  const Weights<Kernels> w(weights, alphas, points, lengths, alpha);
  const FlatInput direction("d_weights", d_weights, shape_of(weights), w.type);
  const auto of_alphas = per_density("d_alphas", d_alphas, w.batch, w.type);
  const typename Kernels::DensityOutput moved(weights, w.batch, w.dimension, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    kernels.match_jvp(w.template rows<Real>(), w.positions(), w.alpha(), floor, direction.rows<Real>(w.cols),
                      values<Real>(of_alphas), moved.template parts<Real>());
  });
  return moved.tensor();
}

template <class Kernels>
std::tuple<Tensor, Tensor> match_weights_vjp_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& points,
                                                 const std::optional<Tensor>& lengths,
                                                 const Tensor& grad_density, const Tensor& weight_weights,
                                                 const std::optional<Tensor>& weight_alphas, double alpha,
                                                 std::optional<double> floor) {
  const Kernels kernels(weights, alphas, points, lengths, grad_density, weight_weights, weight_alphas);
  const Weights<Kernels> w(weights, alphas, points, lengths, alpha);
  const typename Kernels::DensityInput cotangent(grad_density, w.batch, w.dimension, w.type);
  const FlatInput direction("weight_weights", weight_weights, shape_of(weights), w.type);
  const auto of_alphas = per_density("weight_alphas", weight_alphas, w.batch, w.type);
  const FlatOutput product(weights, w.type), product_alphas = like_alphas(weights, alphas, w.type);
  visit_real(w.type, [&]<class Real>(Real) {
    kernels.match_vjp_vjp(w.template rows<Real>(), w.positions(), w.alpha(), floor,
                          cotangent.template parts<Real>(), direction.rows<Real>(w.cols),
                          values<Real>(of_alphas), product.rows<Real>(w.cols),
                          numbers(product_alphas.rows<Real>(1)));
  });
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace fenchel::ops
