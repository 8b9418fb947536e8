#pragma once

/// `entmax`, `fusedmax`, `entmax_loss` and `continuous_attention` for tensors of libtorch, with derivatives.

#include <ATen/ATen.h>
#include <ATen/ExpandUtils.h>
#include <ATen/autocast_mode.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "fenchel/torch/differentiable.hpp"

/// fenchel's operations for libtorch, with first and second derivatives in reverse mode. This header is
/// compiled against the program's own libtorch, 2.10 or later.
namespace fenchel::libtorch {

using at::Tensor;

namespace detail {

/// A map from scores to probabilities p. x is (scores, parameters), and others that have no derivatives.
/// Derivatives are functions of p and of x but for the scores.
template <class Map, std::size_t Count = 2>
struct RowMap {
  static constexpr std::size_t kCount = Count, kResults = 1;

  [[nodiscard]] static Places unread(const Numbers&) { return 1; }
  [[nodiscard]] static Tensors derivative(const char* of, const State& s, const Tensors& grad,
                                          const Tensors& dx) {
    Tensors arguments = joined(joined({s.outputs[0]}, part(s.x, 1, kCount - 1)), grad);
    if (!dx.empty()) arguments = joined(arguments, {or_zero(dx[0], s.outputs[0]), dx[1]});
    return run(std::string(Map::kName) + of, arguments, s.numbers);
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places) {
    return derivative("_vjp", s, {grad}, {});
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    return derivative("_jvp", s, {}, dx)[0];
  }
};

struct Entmax : RowMap<Entmax> {
  static constexpr const char* kName = "entmax";
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places) {
    return derivative("_vjp_vjp", s, {grad}, dx);
  }
};

/// entmax over nodes with weights: x is (scores, weight, alphas).
struct WeightedEntmax {
  static constexpr std::size_t kCount = 3, kResults = 1;
  static constexpr const char* kName = "weighted_entmax";

  [[nodiscard]] static Places unread(const Numbers&) { return 1; }
  [[nodiscard]] static Tensors derivative(const char* of, const State& s, const Tensors& others,
                                          Numbers numbers) {
    return run(std::string(kName) + of, joined({s.outputs[0], s.x[1], s.x[2]}, others), numbers);
  }
  /// The last number asks for the gradient in the weight.
  [[nodiscard]] static Numbers with_weight(Numbers numbers) {
    numbers.emplace_back(true);
    return numbers;
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places) {
    return derivative("_vjp", s, {grad}, with_weight(s.numbers));
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    return derivative("_jvp", s, dx, s.numbers)[0];
  }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places) {
    return derivative("_vjp_vjp", s, joined({grad}, dx), with_weight(s.numbers));
  }
};

/// Rows are full, and edges weigh 1: x has neither lengths nor weights.
struct Fusedmax : RowMap<Fusedmax, 4> {
  static constexpr const char* kName = "fusedmax";
  /// 0: p is piecewise linear in the scores and in gamma.
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor&, const Tensors&, Places) {
    return {at::zeros_like(s.outputs[0]), s.x[1].defined() ? at::zeros_like(s.x[1]) : Tensor()};
  }
};

/// x is (scores, alphas, classes, soft targets), y one loss a row. The last number is `gradient`: whether the
/// other outputs are the gradient, p - q in the scores and the slope in alpha. Without it the scores are
/// kept, and read again.
struct EntmaxLoss {
  static constexpr const char* kName = "entmax_loss";
  static constexpr std::size_t kCount = 4, kResults = 3;

  [[nodiscard]] static bool has_gradient(const Numbers& numbers) { return numbers.back().toBool(); }
  [[nodiscard]] static Places unread(const Numbers& numbers) { return has_gradient(numbers) ? 1 : 0; }
  /// The outputs, where they lack the gradient computed again.
  [[nodiscard]] static Tensors with_gradient(const State& s) {
    if (has_gradient(s.numbers)) return s.outputs;
    Numbers numbers = s.numbers;
    numbers.back() = true;
    return run(kName, s.x, numbers);
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places wanted) {
    const Tensor in_scores = has_gradient(s.numbers) ? grad * s.outputs[1]
                                                     : run("entmax_loss_vjp", joined(s.x, {grad}),
                                                           {s.numbers[0], s.numbers[1], s.numbers[2]})[0];
    return {in_scores, (wanted >> 1 & 1) != 0 ? grad * with_gradient(s)[2] : Tensor(), {}, {}};
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    const Tensors outputs = with_gradient(s);
    const Tensor &loss = outputs[0], &residual = outputs[1], &slope = outputs[2];
    Tensor d_loss = at::zeros_like(loss);
    if (dx[0].defined()) d_loss += (residual * dx[0]).sum({s.numbers[1].toInt()}, true);
    if (dx[1].defined()) d_loss += (slope * dx[1]).to(loss.scalar_type());
    return d_loss;
  }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places) {
    const Tensor residual = with_gradient(s)[1];
    const Tensors second =
        run("entmax_loss_curvature", {residual, s.x[1], s.x[2], s.x[3], or_zero(dx[0], residual), dx[1]},
            Numbers(s.numbers.begin(), s.numbers.end() - 1));
    return {grad * second[0], s.x[1].defined() ? grad * second[1] : Tensor(), {}, {}};
  }
};

/// x is (scores, alphas, classes), these without `dim`, y the mean of that of EntmaxLoss over the rows that
/// are not ignored, whose number is the last of the outputs. Of the CPU: torch's operations would cost a
/// small call more than its loss.
struct EntmaxMeanLoss {
  static constexpr const char* kName = "entmax_mean_loss";
  static constexpr std::size_t kCount = 3, kResults = 4;

  [[nodiscard]] static Places unread(const Numbers& numbers) { return EntmaxLoss::unread(numbers); }
  /// The same of the losses of rows, without these.
  [[nodiscard]] static State of_rows(const State& s) {
    Numbers numbers = s.numbers;
    numbers.insert(numbers.end() - 1, false);
    return {{s.x[0], s.x[1], s.x[2].unsqueeze(numbers[1].toInt()), Tensor()}, part(s.outputs, 0, 3), numbers};
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places wanted) {
    const State rows = of_rows(s);
    return EntmaxLoss::vjp(rows, (grad / s.outputs[3]).expand(rows.x[2].sizes()), wanted);
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    const State rows = of_rows(s);
    const Tensor each = at::zeros(rows.x[2].sizes(), s.outputs[0].options());
    const Tensor moved = EntmaxLoss::jvp({rows.x, {each, s.outputs[1], s.outputs[2]}, rows.numbers}, dx);
    return moved.sum() / s.outputs[3];
  }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places wanted) {
    return EntmaxLoss::hessian(of_rows(s), grad / s.outputs[3], joined(dx, {Tensor()}), wanted);
  }
};

/// x is (mu, scale, alphas, means, covariances).
struct Attend {
  static constexpr const char* kName = "attend";
  static constexpr std::size_t kCount = 5, kResults = 1;

  [[nodiscard]] static Places unread(const Numbers&) { return 0; }
  [[nodiscard]] static Tensors whole(const State& s, const Tensors& dx) {
    return {or_zero(dx[0], s.x[0]), or_zero(dx[1], s.x[1]), dx[2], dx[3], dx[4]};
  }
  /// alpha, and whether the basis is learned.
  [[nodiscard]] static Numbers with_learned(const State& s, Places wanted) {
    return {s.numbers[0], (wanted >> 3) != 0};
  }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places wanted) {
    return run("attend_vjp", joined(s.x, {grad}), with_learned(s, wanted));
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    return run("attend_jvp", joined(s.x, whole(s, dx)), s.numbers)[0];
  }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places wanted) {
    return run("attend_vjp_vjp", joined(joined(s.x, {grad}), whole(s, dx)), with_learned(s, wanted));
  }
};

}  // namespace detail

/// A number, or a tensor that broadcasts to one number a row and can be learned.
class Parameter {
 public:
  Parameter(double number) : number_(number) {}             // NOLINT(google-explicit-constructor)
  Parameter(Tensor tensor) : tensor_(std::move(tensor)) {}  // NOLINT(google-explicit-constructor)
  [[nodiscard]] double number() const { return number_; }
  /// In float64 and of that shape; undefined for a number. A tensor of one number on the CPU serves every
  /// device.
  [[nodiscard]] Tensor expanded(at::IntArrayRef shape, at::Device device) const {
    if (!tensor_.defined()) return {};
    const bool one = tensor_.dim() == 0 && tensor_.is_cpu();
    return (one ? tensor_.to(device, at::kDouble) : tensor_.to(at::kDouble)).expand(shape);
  }
  [[nodiscard]] at::IntArrayRef sizes() const {
    return tensor_.defined() ? tensor_.sizes() : at::IntArrayRef();
  }

 private:
  double number_ = 0;
  Tensor tensor_;
};

namespace detail {

/// The type of x; float32 for the half types under autocast.
[[nodiscard]] inline at::ScalarType widened_type(const Tensor& x) {
  const bool narrow = x.scalar_type() == at::kHalf || x.scalar_type() == at::kBFloat16;
  return narrow && at::autocast::is_autocast_enabled(x.device().type()) ? at::kFloat : x.scalar_type();
}

[[nodiscard]] inline Tensor widened(const Tensor& x) { return x.to(widened_type(x)); }

/// dim counted from the end.
[[nodiscard]] inline std::int64_t from_end(std::int64_t dim, const Tensor& x) {
  TORCH_CHECK_INDEX(-x.dim() <= dim && dim < x.dim(), "fenchel::libtorch: dim must be in [", -x.dim(), ", ",
                    x.dim() - 1, "], got ", dim);
  return dim < 0 ? dim : dim - x.dim();
}

/// The shape of x with `dim` of size 1.
[[nodiscard]] inline std::vector<std::int64_t> per_row(const Tensor& x, std::int64_t dim) {
  std::vector<std::int64_t> shape = x.sizes().vec();
  shape[static_cast<std::size_t>(x.dim() + dim)] = 1;
  return shape;
}

template <class Map>
[[nodiscard]] Tensor row_map(const Tensor& scores, const Parameter& parameter, std::int64_t dim) {
  const Tensor z = widened(scores);
  dim = from_end(dim, z);
  Tensors x{z, parameter.expanded(per_row(z, dim), z.device())};
  x.resize(Map::kCount);
  return Differentiable<Map>::value(x, {parameter.number(), dim});
}

/// (classes, none) or (none, distributions), as the operations take them.
[[nodiscard]] inline std::pair<Tensor, Tensor> targets(const Tensor& target, const Tensor& scores,
                                                       std::int64_t dim) {
  TORCH_CHECK_VALUE(!target.requires_grad(),
                    "fenchel::libtorch: target must not require a gradient: detach it");
  if (target.is_floating_point()) {
    TORCH_CHECK_VALUE(target.sizes() == scores.sizes(),
                      "fenchel::libtorch: target, a distribution, must have the shape of scores, ",
                      scores.sizes(), ", got ", target.sizes());
    return {Tensor(), target};
  }
  TORCH_CHECK_TYPE(at::isIntegralType(target.scalar_type(), false),
                   "fenchel::libtorch: target must be classes (integers) or distributions, got ",
                   target.scalar_type());
  std::vector<std::int64_t> shape = scores.sizes().vec();
  shape.erase(shape.end() + dim);
  TORCH_CHECK_VALUE(target.sizes() == shape,
                    "fenchel::libtorch: target, a class a row, must have the shape of scores without dim, ",
                    at::IntArrayRef(shape), ", got ", target.sizes());
  return {target.to(at::kLong).unsqueeze(dim), Tensor()};
}

}  // namespace detail

/// The distribution p that maximises <p, scores> - Omega_alpha(p), along a dimension: softmax for alpha = 1,
/// sparsemax for alpha = 2. A score of -inf is a mask. A weight is a base measure, which broadcasts to the
/// shape of the scores and gets a gradient: p / weight is a density.
[[nodiscard]] inline Tensor entmax(const Tensor& scores, const Parameter& alpha = 1.5, std::int64_t dim = -1,
                                   const Tensor& weight = {}) {
  if (!weight.defined()) return detail::row_map<detail::Entmax>(scores, alpha, dim);
  const Tensor z = detail::widened(scores);
  dim = detail::from_end(dim, z);
  return detail::Differentiable<detail::WeightedEntmax>::value(
      {z, weight.to(z.scalar_type()).expand(z.sizes()), alpha.expanded(detail::per_row(z, dim), z.device())},
      {alpha.number(), dim});
}

/// entmax at alpha = 2: the distribution nearest to the scores.
[[nodiscard]] inline Tensor sparsemax(const Tensor& scores, std::int64_t dim = -1) {
  return entmax(scores, 2, dim);
}

/// entmax at alpha = 3/2, between softmax and sparsemax.
[[nodiscard]] inline Tensor entmax15(const Tensor& scores, std::int64_t dim = -1) {
  return entmax(scores, 1.5, dim);
}

/// The distribution p that maximises <p, scores> - |p|^2 / 2 - gamma sum_k |p_{k+1} - p_k|, along a
/// dimension.
[[nodiscard]] inline Tensor fusedmax(const Tensor& scores, const Parameter& gamma = 1,
                                     std::int64_t dim = -1) {
  return detail::row_map<detail::Fusedmax>(scores, gamma, dim);
}

/// The Fenchel-Young loss Omega*(f) + Omega(q) - <f, q> of entmax for scores f, cross-entropy for alpha = 1:
/// in the dtype of f, one a row or reduced. The target q is a class a row, an integer, of the shape of f
/// without `dim`, or a distribution of the shape of f. Rows of class ignore_index have loss 0 and do not
/// count in the mean.
[[nodiscard]] inline Tensor entmax_loss(const Tensor& scores, const Tensor& target,
                                        const Parameter& alpha = 1.5, std::int64_t ignore_index = -100,
                                        at::Reduction::Reduction reduction = at::Reduction::Mean,
                                        std::int64_t dim = -1) {
  dim = detail::from_end(dim, scores);
  TORCH_CHECK_VALUE(scores.size(dim) > 0,
                    "fenchel::libtorch: scores must have at least one class along dim, got shape ",
                    scores.sizes());
  const auto [classes, soft] = detail::targets(target, scores, dim);
  const Tensor alphas = alpha.expanded(detail::per_row(scores, dim), scores.device());
  // On a GPU reading the scores again moves fewer bytes than writing p - q and reading it; but the slope in
  // alpha comes with the loss alone.
  const bool gradient =
      at::GradMode::is_enabled() && detail::wanted({scores.is_cuda() ? Tensor() : scores, alphas}) != 0;
  const at::ScalarType type = detail::widened_type(scores);
  if (classes.defined() && reduction == at::Reduction::Mean && scores.is_cpu()) {
    return detail::Differentiable<detail::EntmaxMeanLoss>::value(
               {scores, alphas, classes.squeeze(dim)}, {alpha.number(), dim, ignore_index, gradient})
        .to(type);
  }
  const Tensor loss =
      detail::Differentiable<detail::EntmaxLoss>::value({scores, alphas, classes, soft},
                                                        {alpha.number(), dim, ignore_index, false, gradient})
          .squeeze(dim);
  if (reduction == at::Reduction::None) return loss.to(type);
  const Tensor total = loss.sum();
  if (reduction == at::Reduction::Sum) return total.to(type);
  const Tensor counted = classes.defined() ? target.ne(ignore_index).sum() : at::scalar_tensor(loss.numel());
  return (total / counted.clamp_min(1)).to(type);
}

/// N Gaussian functions on the line: centres and standard deviations, (N) each. Both may be learned.
struct GaussianBasis {
  Tensor mu, sigma;
};

/// N Gaussian functions on R^D: centres (N, D) and covariance matrices (N, D, D). Both may be learned.
struct MultivariateGaussianBasis {
  Tensor mu, Sigma;
};

namespace detail {

/// mu (..., D), Sigma (..., D, D), means (N, D) and covariances (N, D, D).
[[nodiscard]] inline Tensor attend(const Parameter& alpha, const Tensor& mu, const Tensor& Sigma,
                                   const Tensor& means, const Tensor& covariances) {
  const auto type = at::promote_types(mu.scalar_type(), Sigma.scalar_type());
  const Tensor m = widened(mu.to(type)), s = widened(Sigma.to(type));
  std::vector<std::int64_t> batch =
      at::infer_size(m.sizes().slice(0, m.dim() - 1), s.sizes().slice(0, s.dim() - 2));
  batch = at::infer_size(batch, alpha.sizes());
  const auto shaped = [&](at::IntArrayRef event) {
    std::vector<std::int64_t> shape = batch;
    shape.insert(shape.end(), event.begin(), event.end());
    return shape;
  };
  return Differentiable<Attend>::value(
      {m.expand(shaped(means.sizes().slice(1))), s.expand(shaped(covariances.sizes().slice(1))),
       alpha.expanded(batch, m.device()), means.to(at::kDouble), covariances.to(at::kDouble)},
      {alpha.number()});
}

}  // namespace detail

/// r = E_p[psi], (..., N), for beta-Gaussian densities p of order alpha at mu, of scale sigma2, and the
/// functions psi of the basis. alpha, mu and sigma2, (...), are broadcast against each other and may be
/// learned.
[[nodiscard]] inline Tensor continuous_attention(const Parameter& alpha, const Tensor& mu,
                                                 const Tensor& sigma2, const GaussianBasis& basis) {
  TORCH_CHECK_VALUE(basis.mu.dim() == 1 && basis.sigma.sizes() == basis.mu.sizes(),
                    "fenchel::libtorch: mu and sigma of a basis must be (N), got ", basis.mu.sizes(), " and ",
                    basis.sigma.sizes());
  const auto matrix = [](const Tensor& x) { return x.unsqueeze(-1).unsqueeze(-1); };
  return detail::attend(alpha, mu.unsqueeze(-1), matrix(sigma2), basis.mu.unsqueeze(-1),
                        matrix(basis.sigma.to(at::kDouble).square()));
}

/// The same on R^D, for mu (..., D) and matrices Sigma (..., D, D), of which the symmetric part counts.
[[nodiscard]] inline Tensor continuous_attention(const Parameter& alpha, const Tensor& mu,
                                                 const Tensor& Sigma,
                                                 const MultivariateGaussianBasis& basis) {
  TORCH_CHECK_VALUE(basis.mu.dim() == 2 && basis.Sigma.dim() == 3 &&
                        basis.Sigma.sizes().slice(0, 2) == basis.mu.sizes() &&
                        basis.Sigma.size(2) == basis.mu.size(1),
                    "fenchel::libtorch: mu and Sigma of a basis must be (N, D) and (N, D, D), got ",
                    basis.mu.sizes(), " and ", basis.Sigma.sizes());
  const std::int64_t dimension = basis.mu.size(1);
  TORCH_CHECK_VALUE(mu.dim() >= 1 && mu.size(-1) == dimension && Sigma.dim() >= 2 &&
                        Sigma.size(-1) == dimension && Sigma.size(-2) == dimension,
                    "fenchel::libtorch: mu and Sigma must be (..., D) and (..., D, D) with D = ", dimension,
                    ", got ", mu.sizes(), " and ", Sigma.sizes());
  return detail::attend(alpha, mu, (Sigma + Sigma.mT()) / 2, basis.mu, basis.Sigma);
}

}  // namespace fenchel::libtorch
