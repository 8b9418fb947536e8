#pragma once

#include <span>
#include <tuple>

#include "fenchel/core/rows.hpp"
#include "ops/flat_tensors.hpp"

/// Continuous attention and its derivatives, by the Kernels of a device. What is returned for alphas is empty
/// where there are none, and for the basis unless `learned`.
namespace fenchel::ops {

using Tensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
inline const Shape kNone{0};

/// The densities and the basis of an operation.
template <class Kernels>
class Arguments {
 public:
  Arguments(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas, const Tensor& means,
            const Tensor& covariances, double alpha)
      : type(computed_in("mu", mu)),
        batch(batch_of("mu", mu)),
        dimension(mu.size(-1)),
        count(means.numel() / dimension),
        mu_("mu", mu, at_densities({dimension}), type),
        scale_("scale", scale, at_densities({dimension, dimension}), type),
        means_("means", means, {count, dimension}, ScalarType::Double),
        covariances_("covariances", covariances, {count, dimension, dimension}, ScalarType::Double),
        alpha_(alpha) {
    if (alphas) alphas_.emplace("alphas", *alphas, batch, ScalarType::Double);
  }
  /// The shape of what each density has.
  [[nodiscard]] Shape at_densities(std::initializer_list<std::int64_t> sizes) const {
    return extended(batch, sizes);
  }
  template <class Real>
  [[nodiscard]] auto densities() const {
    using PerRow = typename Kernels::PerRow;
    return Kernels::densities(mu_.rows<Real>(dimension), scale_.rows<Real>(dimension * dimension),
                              alphas_ ? Kernels::per_row(numbers(alphas_->rows<double>(1))) : PerRow(alpha_));
  }
  [[nodiscard]] auto functions() const {
    return Kernels::functions(means_.rows<double>(dimension),
                              covariances_.rows<double>(dimension * dimension));
  }

  ScalarType type;
  Shape batch;
  index_t dimension, count;

 private:
  FlatInput mu_, scale_;
  std::optional<FlatInput> alphas_;
  FlatInput means_, covariances_;
  double alpha_;
};

/// r, (..., N) for mu (..., D).
template <class Kernels>
[[nodiscard]] FlatOutput expectations(const Tensor& mu, const Arguments<Kernels>& x) {
  return {mu, x.at_densities({x.count}), x.type, mu.scalar_type()};
}

template <class Kernels>
Tensor attend(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas, const Tensor& means,
              const Tensor& covariances, double alpha) {
  const Kernels kernels(mu, scale, alphas, means, covariances);
  const Arguments<Kernels> x(mu, scale, alphas, means, covariances, alpha);
  const FlatOutput r = expectations(mu, x);
  visit_real(x.type, [&]<class Real>(Real) {
    kernels.attend(x.template densities<Real>(), x.functions(), r.rows<Real>(x.count));
  });
  return r.tensor();
}

/// A gradient in the densities and, where it is learned, in the basis.
template <class Kernels>
class Gradient {
 public:
  Gradient(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas, const Tensor& means,
           const Tensor& covariances, const Arguments<Kernels>& x, bool learned)
      : dimension_(x.dimension),
        mu_(mu, x.type),
        scale_(scale, x.type),
        alphas_(mu, alphas ? shape_of(*alphas) : kNone, x.type, ScalarType::Double),
        means_(means, learned ? shape_of(means) : kNone, ScalarType::Double, ScalarType::Double),
        covariances_(means, learned ? shape_of(covariances) : kNone, ScalarType::Double, ScalarType::Double) {
    if (mu.numel() > 0) return;
    means_.set_to_zero();
    covariances_.set_to_zero();
  }
  template <class Real>
  [[nodiscard]] auto densities() const {
    return Kernels::tangents(mu_.rows<Real>(dimension_), scale_.rows<Real>(dimension_ * dimension_),
                             numbers(alphas_.rows<Real>(1)));
  }
  [[nodiscard]] auto basis() const {
    return Kernels::basis(means_.rows<double>(dimension_),
                          covariances_.rows<double>(dimension_ * dimension_));
  }
  [[nodiscard]] Tensors tensors() const {
    return {mu_.tensor(), scale_.tensor(), alphas_.tensor(), means_.tensor(), covariances_.tensor()};
  }

 private:
  index_t dimension_;
  FlatOutput mu_, scale_, alphas_, means_, covariances_;
};

template <class Kernels>
Tensors attend_vjp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                   const Tensor& means, const Tensor& covariances, const Tensor& grad_r, double alpha,
                   bool learned) {
  const Kernels kernels(mu, scale, alphas, means, covariances, grad_r);
  const Arguments<Kernels> x(mu, scale, alphas, means, covariances, alpha);
  const FlatInput cotangent("grad_r", grad_r, x.at_densities({x.count}), x.type);
  const Gradient<Kernels> gradient(mu, scale, alphas, means, covariances, x, learned);
  visit_real(x.type, [&]<class Real>(Real) {
    kernels.attend_vjp(x.template densities<Real>(), x.functions(), cotangent.rows<Real>(x.count),
                       gradient.template densities<Real>(), gradient.basis());
  });
  return gradient.tensors();
}

/// A direction in the densities and the basis.
template <class Kernels>
class Direction {
 public:
  Direction(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
            const std::optional<Tensor>& means, const std::optional<Tensor>& covariances,
            const Arguments<Kernels>& x)
      : dimension_(x.dimension),
        mu_("the direction of mu", mu, x.at_densities({dimension_}), x.type),
        scale_("the direction of scale", scale, x.at_densities({dimension_, dimension_}), x.type) {
    const Shape of_means{x.count, dimension_}, of_covariances{x.count, dimension_, dimension_};
    if (alphas) alphas_.emplace("the direction of alphas", *alphas, x.batch, x.type);
    if (means) means_.emplace("the direction of means", *means, of_means, ScalarType::Double);
    if (covariances) {
      covariances_.emplace("the direction of covariances", *covariances, of_covariances, ScalarType::Double);
    }
  }
  template <class Real>
  [[nodiscard]] auto densities() const {
    return Kernels::tangents(mu_.rows<Real>(dimension_), scale_.rows<Real>(dimension_ * dimension_),
                             alphas_ ? numbers(alphas_->rows<Real>(1)) : std::span<const Real>());
  }
  [[nodiscard]] auto basis() const {
    return Kernels::basis(
        means_ ? means_->rows<double>(dimension_) : Rows<const double>(),
        covariances_ ? covariances_->rows<double>(dimension_ * dimension_) : Rows<const double>());
  }

 private:
  index_t dimension_;
  FlatInput mu_, scale_;
  std::optional<FlatInput> alphas_, means_, covariances_;
};

template <class Kernels>
Tensor attend_jvp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                  const Tensor& means, const Tensor& covariances, const Tensor& d_mu, const Tensor& d_scale,
                  const std::optional<Tensor>& d_alphas, const std::optional<Tensor>& d_means,
                  const std::optional<Tensor>& d_covariances, double alpha) {
  const Kernels kernels(mu, scale, alphas, means, covariances, d_mu, d_scale, d_alphas, d_means,
                        d_covariances);
  const Arguments<Kernels> x(mu, scale, alphas, means, covariances, alpha);
  const Direction<Kernels> direction(d_mu, d_scale, d_alphas, d_means, d_covariances, x);
  const FlatOutput d_r = expectations(mu, x);
  visit_real(x.type, [&]<class Real>(Real) {
    kernels.attend_jvp(x.template densities<Real>(), x.functions(), direction.template densities<Real>(),
                       d_r.rows<Real>(x.count), direction.basis());
  });
  return d_r.tensor();
}

template <class Kernels>
Tensors attend_vjp_vjp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                       const Tensor& means, const Tensor& covariances, const Tensor& grad_r,
                       const Tensor& weight_mu, const Tensor& weight_scale,
                       const std::optional<Tensor>& weight_alphas, const std::optional<Tensor>& weight_means,
                       const std::optional<Tensor>& weight_covariances, double alpha, bool learned) {
  const Kernels kernels(mu, scale, alphas, means, covariances, grad_r, weight_mu, weight_scale, weight_alphas,
                        weight_means, weight_covariances);
  const Arguments<Kernels> x(mu, scale, alphas, means, covariances, alpha);
  const FlatInput cotangent("grad_r", grad_r, x.at_densities({x.count}), x.type);
  const Direction<Kernels> weight(weight_mu, weight_scale, weight_alphas, weight_means, weight_covariances,
                                  x);
  const Gradient<Kernels> product(mu, scale, alphas, means, covariances, x, learned);
  visit_real(x.type, [&]<class Real>(Real) {
    kernels.attend_vjp_vjp(x.template densities<Real>(), x.functions(), cotangent.rows<Real>(x.count),
                           weight.template densities<Real>(), weight.basis(),
                           product.template densities<Real>(), product.basis());
  });
  return product.tensors();
}

}  // namespace fenchel::ops
