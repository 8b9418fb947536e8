#include <torch/csrc/stable/library.h>

#include <tuple>

#include "ops/flat_tensors.hpp"

/// Continuous attention and its derivatives. What is returned for alphas is empty
/// where there are none, and for the basis unless `learned`.
namespace fenchel::ops {
namespace {

using Tensors = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
const Shape kNone{0};

/// The densities and the basis of an operation.
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
        alphas_(given("alphas", alphas, batch, ScalarType::Double)),
        means_("means", means, {count, dimension}, ScalarType::Double),
        covariances_("covariances", covariances, {count, dimension, dimension}, ScalarType::Double),
        alpha_(alpha) {}
  /// The shape of what each density has.
  [[nodiscard]] Shape at_densities(std::initializer_list<std::int64_t> sizes) const {
    return extended(batch, sizes);
  }
  template <class Real>
  [[nodiscard]] backend::Densities<Real> densities() const {
    return {per_row(alpha_, alphas_), mu_.rows<Real>(dimension), scale_.rows<Real>(dimension * dimension)};
  }
  [[nodiscard]] backend::GaussianFunctions functions() const {
    return {means_.rows<double>(dimension), covariances_.rows<double>(dimension * dimension)};
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
[[nodiscard]] FlatOutput expectations(const Tensor& mu, const Arguments& x) {
  return {mu, x.at_densities({x.count}), x.type, mu.scalar_type()};
}

Tensor attend(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas, const Tensor& means,
              const Tensor& covariances, double alpha) {
  const Device device(mu, scale, alphas, means, covariances);
  const Arguments x(mu, scale, alphas, means, covariances, alpha);
  const FlatOutput r = expectations(mu, x);
  visit_real(x.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::attend(a...); }, x.densities<Real>(), x.functions(),
                r.rows<Real>(x.count));
  });
  return r.tensor();
}

/// A gradient in the densities and, where it is learned, in the basis.
class Gradient {
 public:
  Gradient(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas, const Tensor& means,
           const Tensor& covariances, const Arguments& x, bool learned)
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
  [[nodiscard]] backend::DensityTangents<Real> densities() const {
    return {alphas_.values<Real>(), mu_.rows<Real>(dimension_), scale_.rows<Real>(dimension_ * dimension_)};
  }
  [[nodiscard]] backend::BasisTangents<double> basis() const {
    return {means_.rows<double>(dimension_), covariances_.rows<double>(dimension_ * dimension_)};
  }
  [[nodiscard]] Tensors tensors() const {
    return {mu_.tensor(), scale_.tensor(), alphas_.tensor(), means_.tensor(), covariances_.tensor()};
  }

 private:
  index_t dimension_;
  FlatOutput mu_, scale_, alphas_, means_, covariances_;
};

Tensors attend_vjp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                   const Tensor& means, const Tensor& covariances, const Tensor& grad_r, double alpha,
                   bool learned) {
  const Device device(mu, scale, alphas, means, covariances, grad_r);
  const Arguments x(mu, scale, alphas, means, covariances, alpha);
  const FlatInput cotangent("grad_r", grad_r, x.at_densities({x.count}), x.type);
  const Gradient gradient(mu, scale, alphas, means, covariances, x, learned);
  visit_real(x.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::attend_vjp(a...); }, x.densities<Real>(), x.functions(),
                cotangent.rows<Real>(x.count), gradient.densities<Real>(), gradient.basis());
  });
  return gradient.tensors();
}

/// A direction in the densities and the basis.
class Direction {
 public:
  Direction(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
            const std::optional<Tensor>& means, const std::optional<Tensor>& covariances, const Arguments& x)
      : dimension_(x.dimension),
        mu_("the direction of mu", mu, x.at_densities({dimension_}), x.type),
        scale_("the direction of scale", scale, x.at_densities({dimension_, dimension_}), x.type),
        alphas_(given("the direction of alphas", alphas, x.batch, x.type)),
        means_(given("the direction of means", means, {x.count, dimension_}, ScalarType::Double)),
        covariances_(given("the direction of covariances", covariances, {x.count, dimension_, dimension_},
                           ScalarType::Double)) {}
  template <class Real>
  [[nodiscard]] backend::DensityTangents<const Real> densities() const {
    return {values_of<Real>(alphas_), mu_.rows<Real>(dimension_), scale_.rows<Real>(dimension_ * dimension_)};
  }
  [[nodiscard]] backend::BasisTangents<const double> basis() const {
    return {rows_of<double>(means_, dimension_), rows_of<double>(covariances_, dimension_ * dimension_)};
  }

 private:
  index_t dimension_;
  FlatInput mu_, scale_;
  std::optional<FlatInput> alphas_, means_, covariances_;
};

Tensor attend_jvp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                  const Tensor& means, const Tensor& covariances, const Tensor& d_mu, const Tensor& d_scale,
                  const std::optional<Tensor>& d_alphas, const std::optional<Tensor>& d_means,
                  const std::optional<Tensor>& d_covariances, double alpha) {
  const Device device(mu, scale, alphas, means, covariances, d_mu, d_scale, d_alphas, d_means, d_covariances);
  const Arguments x(mu, scale, alphas, means, covariances, alpha);
  const Direction direction(d_mu, d_scale, d_alphas, d_means, d_covariances, x);
  const FlatOutput d_r = expectations(mu, x);
  visit_real(x.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::attend_jvp(a...); }, x.densities<Real>(), x.functions(),
                direction.densities<Real>(), direction.basis(), d_r.rows<Real>(x.count));
  });
  return d_r.tensor();
}

Tensors attend_vjp_vjp(const Tensor& mu, const Tensor& scale, const std::optional<Tensor>& alphas,
                       const Tensor& means, const Tensor& covariances, const Tensor& grad_r,
                       const Tensor& weight_mu, const Tensor& weight_scale,
                       const std::optional<Tensor>& weight_alphas, const std::optional<Tensor>& weight_means,
                       const std::optional<Tensor>& weight_covariances, double alpha, bool learned) {
  const Device device(mu, scale, alphas, means, covariances, grad_r, weight_mu, weight_scale, weight_alphas,
                      weight_means, weight_covariances);
  const Arguments x(mu, scale, alphas, means, covariances, alpha);
  const FlatInput cotangent("grad_r", grad_r, x.at_densities({x.count}), x.type);
  const Direction weight(weight_mu, weight_scale, weight_alphas, weight_means, weight_covariances, x);
  const Gradient product(mu, scale, alphas, means, covariances, x, learned);
  visit_real(x.type, [&]<class Real>(Real) {
    device.call([](const auto&... a) { backend::attend_vjp_vjp(a...); }, x.densities<Real>(), x.functions(),
                cotangent.rows<Real>(x.count), weight.densities<Real>(), weight.basis(),
                product.densities<Real>(), product.basis());
  });
  return product.tensors();
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("attend", TORCH_BOX(&attend));
  m.impl("attend_vjp", TORCH_BOX(&attend_vjp));
  m.impl("attend_jvp", TORCH_BOX(&attend_jvp));
  m.impl("attend_vjp_vjp", TORCH_BOX(&attend_vjp_vjp));
}

}  // namespace fenchel::ops
