#include "fenchel/backend/weights_density.hpp"

#include <torch/csrc/stable/library.h>

#include <tuple>
#include <type_traits>

#include "ops/flat_tensors.hpp"
#include "ops/torch_pool.hpp"

/// From weights to densities. A density is one row, mu and then Sigma: one tensor is what is differentiated.
namespace fenchel::ops {
namespace {

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
  [[nodiscard]] cpu::WeightPositions positions() const {
    return {points_ ? points_->rows<double>(dimension) : Rows<const double>(),
            lengths_ ? numbers(lengths_->rows<index_t>(1)) : std::span<const index_t>()};
  }
  [[nodiscard]] PerRow alpha() const {
    return alphas_ ? PerRow(numbers(alphas_->rows<double>(1))) : PerRow(alpha_);
  }
  [[nodiscard]] index_t density_size() const { return dimension + dimension * dimension; }
  [[nodiscard]] Shape density_shape() const { return extended(batch, {density_size()}); }
  [[nodiscard]] FlatOutput density(const Tensor& like) const {
    return {like, density_shape(), type, like.scalar_type()};
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

/// mu and Sigma of densities.
template <class Real>
[[nodiscard]] cpu::DensityTangents<Real> parts(Rows<Real> density, index_t dimension) {
  return {{density.data, density.rows, dimension, density.stride},
          {density.data + dimension, density.rows, dimension * dimension, density.stride}};
}

Tensor match_weights(const Tensor& weights, const std::optional<Tensor>& alphas,
                     const std::optional<Tensor>& points, const std::optional<Tensor>& lengths, double alpha,
                     std::optional<double> floor) {
  const ScopedThreadPool pool(torch_pool());
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatOutput density = w.density(weights);
  visit_real(w.type, [&]<class Real>(Real) {
    const auto out = parts(density.rows<Real>(w.density_size()), w.dimension);
    cpu::match_weights<Real>(w.rows<Real>(), w.positions(), w.alpha(), floor, out.mu, out.scale);
  });
  return density.tensor();
}

std::tuple<Tensor, Tensor> match_weights_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                             const std::optional<Tensor>& points,
                                             const std::optional<Tensor>& lengths, const Tensor& grad_density,
                                             double alpha, std::optional<double> floor) {
  const ScopedThreadPool pool(torch_pool());
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput cotangent("grad_density", grad_density, w.density_shape(), w.type);
  const FlatOutput gradient(weights, w.type);
  const FlatOutput grad_alphas(weights, alphas ? shape_of(*alphas) : Shape{0}, w.type, ScalarType::Double);
  visit_real(w.type, [&]<class Real>(Real) {
    cpu::match_weights_vjp<Real>(w.rows<Real>(), w.positions(), w.alpha(), floor,
                                 parts(cotangent.rows<Real>(w.density_size()), w.dimension),
                                 gradient.rows<Real>(w.cols), numbers(grad_alphas.rows<Real>(1)));
  });
  return {gradient.tensor(), grad_alphas.tensor()};
}

Tensor match_weights_jvp(const Tensor& weights, const std::optional<Tensor>& alphas,
                         const std::optional<Tensor>& points, const std::optional<Tensor>& lengths,
                         const Tensor& d_weights, const std::optional<Tensor>& d_alphas, double alpha,
                         std::optional<double> floor) {
  const ScopedThreadPool pool(torch_pool());
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput direction("d_weights", d_weights, shape_of(weights), w.type);
  std::optional<FlatInput> of_alphas;
  if (d_alphas) of_alphas.emplace("d_alphas", *d_alphas, w.batch, w.type);
  const FlatOutput moved = w.density(weights);
  visit_real(w.type, [&]<class Real>(Real) {
    const auto out = parts(moved.rows<Real>(w.density_size()), w.dimension);
    cpu::match_weights_jvp<Real>(
        w.rows<Real>(), w.positions(), w.alpha(), floor, direction.rows<Real>(w.cols),
        of_alphas ? numbers(of_alphas->rows<Real>(1)) : std::span<const Real>(), out.mu, out.scale);
  });
  return moved.tensor();
}

std::tuple<Tensor, Tensor> match_weights_vjp_vjp(const Tensor& weights, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& points,
                                                 const std::optional<Tensor>& lengths,
                                                 const Tensor& grad_density, const Tensor& weight_weights,
                                                 const std::optional<Tensor>& weight_alphas, double alpha,
                                                 std::optional<double> floor) {
  const ScopedThreadPool pool(torch_pool());
  const Weights w(weights, alphas, points, lengths, alpha);
  const FlatInput cotangent("grad_density", grad_density, w.density_shape(), w.type),
      direction("weight_weights", weight_weights, shape_of(weights), w.type);
  std::optional<FlatInput> of_alphas;
  if (weight_alphas) of_alphas.emplace("weight_alphas", *weight_alphas, w.batch, w.type);
  const FlatOutput product(weights, w.type);
  const FlatOutput product_alphas(weights, alphas ? shape_of(*alphas) : Shape{0}, w.type, ScalarType::Double);
  visit_real(w.type, [&]<class Real>(Real) {
    cpu::match_weights_vjp_vjp<Real>(w.rows<Real>(), w.positions(), w.alpha(), floor,
                                     parts(cotangent.rows<Real>(w.density_size()), w.dimension),
                                     direction.rows<Real>(w.cols),
                                     of_alphas ? numbers(of_alphas->rows<Real>(1)) : std::span<const Real>(),
                                     product.rows<Real>(w.cols), numbers(product_alphas.rows<Real>(1)));
  });
  return {product.tensor(), product_alphas.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("match_weights", TORCH_BOX(&match_weights));
  m.impl("match_weights_vjp", TORCH_BOX(&match_weights_vjp));
  m.impl("match_weights_jvp", TORCH_BOX(&match_weights_jvp));
  m.impl("match_weights_vjp_vjp", TORCH_BOX(&match_weights_vjp_vjp));
}

}  // namespace fenchel::ops
