#pragma once

/// `match_weights` and `RidgeValues` for tensors of libtorch: a density from weights, a function from values.

#include <c10/core/InferenceMode.h>

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <map>
#include <numbers>
#include <optional>
#include <utility>
#include <vector>

#include "fenchel/torch.hpp"

namespace fenchel::libtorch {

namespace detail {

/// x is (weights, alphas, points, lengths), of which the last two have no derivatives. y has a row for each
/// density, mu and then Sigma.
struct MatchWeights {
  static constexpr const char* kName = "match_weights";
  static constexpr std::size_t kCount = 4, kResults = 1;

  [[nodiscard]] static Places unread(const Numbers&) { return 0; }
  [[nodiscard]] static Tensors vjp(const State& s, const Tensor& grad, Places) {
    return run("match_weights_vjp", joined(s.x, {grad}), s.numbers);
  }
  [[nodiscard]] static Tensor jvp(const State& s, const Tensors& dx) {
    return run("match_weights_jvp", joined(s.x, {or_zero(dx[0], s.x[0]), dx[1]}), s.numbers)[0];
  }
  [[nodiscard]] static Tensors hessian(const State& s, const Tensor& grad, const Tensors& dx, Places) {
    return run("match_weights_vjp_vjp", joined(s.x, {grad, or_zero(dx[0], s.x[0]), dx[1]}), s.numbers);
  }
};

inline void check_lengths(const Tensor& lengths, at::IntArrayRef batch) {
  TORCH_CHECK_TYPE(at::isIntegralType(lengths.scalar_type(), false),
                   "fenchel::libtorch: lengths must be integers, got ", lengths.scalar_type());
  TORCH_CHECK_VALUE(lengths.sizes() == batch, "fenchel::libtorch: lengths must have shape ", batch, ", got ",
                    lengths.sizes());
}

/// Which of `columns` are within the lengths, (..., columns).
[[nodiscard]] inline Tensor within(const Tensor& lengths, std::int64_t columns) {
  return at::arange(columns, lengths.options()) < lengths.unsqueeze(-1);
}

}  // namespace detail

/// The densities that have the mean of weights (..., L) over positions, and their covariance plus a floor:
/// mu and Sigma, which `continuous_attention` takes at the same alpha. They are (...) for positions on the
/// line, (L), and (..., D) and (..., D, D) for positions (L, D). Positions are the centres of L equal cells
/// of [0, 1] unless said, or of as many as a row has; the floor is the variance of one cell unless said.
/// lengths (...) say how many weights of a row count. alpha and the weights may be learned.
[[nodiscard]] inline std::pair<Tensor, Tensor> match_weights(const Parameter& alpha, const Tensor& weights,
                                                             const Tensor& positions = {},
                                                             std::optional<double> floor = {},
                                                             const Tensor& lengths = {}) {
  TORCH_CHECK_VALUE(weights.dim() > 0 && weights.size(-1) > 0,
                    "fenchel::libtorch: weights must have shape (..., L), L > 0, got ", weights.sizes());
  const std::int64_t count = weights.size(-1);
  const at::IntArrayRef batch = weights.sizes().slice(0, static_cast<std::size_t>(weights.dim() - 1));
  if (lengths.defined()) detail::check_lengths(lengths, batch);
  const bool on_line = !positions.defined() || positions.dim() == 1;
  if (positions.defined()) {
    TORCH_CHECK_VALUE((on_line || positions.dim() == 2) && positions.size(0) == count,
                      "fenchel::libtorch: positions must have shape (L) or (L, D), L = ", count, ", got ",
                      positions.sizes());
    TORCH_CHECK_VALUE(!positions.requires_grad(),
                      "fenchel::libtorch: positions must not require a gradient: detach them");
  }
  Tensor w = weights;
  if (w.scalar_type() == at::kHalf || w.scalar_type() == at::kBFloat16) {  // rounded, they add up to 1 again
    w = w.to(at::kFloat);
    if (lengths.defined()) w = w.masked_fill(detail::within(lengths, count).logical_not(), 0);
    w = w / w.sum(-1, true);
  }
  const Tensor points = positions.defined() ? positions.to(at::kDouble).reshape({count, -1}) : Tensor();
  const Tensor density = detail::Differentiable<detail::MatchWeights>::value(
                             {w, alpha.expanded(batch, w.device()), points,
                              lengths.defined() ? lengths.to(at::kLong) : Tensor()},
                             {alpha.number(), floor ? c10::IValue(*floor) : c10::IValue()})
                             .to(detail::widened_type(weights));
  if (on_line) return {density.select(-1, 0), density.select(-1, 1)};
  const std::int64_t d = points.size(-1);
  return {density.narrow(-1, 0, d), density.narrow(-1, d, d * d).unflatten(-1, {d, d})};
}

/// Value functions V(t) = B^T psi(t) on [0, 1] from values at the centres of equal cells, by ridge
/// regression: B = argmin |F B - H|^2 + ridge |B|^2 for the values H and the basis F at their positions.
/// B = G^T H, where G is computed in float64. Of a fixed basis it is kept for each length; of a learned one
/// it is computed each time, with gradients. The basis is on the device of the values.
class RidgeValues {
 public:
  explicit RidgeValues(GaussianBasis basis, double ridge = 0.1) : basis_(std::move(basis)), ridge_(ridge) {
    TORCH_CHECK_VALUE(basis_.mu.dim() == 1 && basis_.sigma.sizes() == basis_.mu.sizes(),
                      "fenchel::libtorch: mu and sigma of a basis must be (N), got ", basis_.mu.sizes(),
                      " and ", basis_.sigma.sizes());
    TORCH_CHECK_VALUE(0 < ridge && std::isfinite(ridge),
                      "fenchel::libtorch: ridge must be positive and finite, got ", ridge);
    // What is kept is of these numbers, whatever the caller does with the tensors.
    if (!learned()) basis_ = {basis_.mu.to(at::kDouble).clone(), basis_.sigma.to(at::kDouble).clone()};
  }
  [[nodiscard]] const GaussianBasis& basis() const { return basis_; }

  /// The coefficients B, (..., N, M), of values (..., L, M). lengths (...) are those of padded sequences:
  /// each lies on as many cells as it is long, and its padding is not read. Lengths on a GPU are waited for.
  [[nodiscard]] Tensor fit(const Tensor& values, const Tensor& lengths = {}) {
    const auto [matrix, observed] = matrix_and_values(values, lengths);
    return matrix.mT().matmul(observed.to(at::kDouble)).to(detail::widened_type(values));
  }

  /// r B, (*batch, *queries, M), for r = `continuous_attention`(...) of shape (*batch, *queries, N) and
  /// values and lengths as in `fit`. A few queries cost less through the weights r G^T of the values than
  /// through B.
  [[nodiscard]] Tensor contexts(const Tensor& expectations, const Tensor& values,
                                const Tensor& lengths = {}) {
    const auto [matrix, observed] = matrix_and_values(values, lengths);
    const std::int64_t functions = basis_.mu.numel(), length = values.size(-2), size = values.size(-1);
    const auto batch = values.sizes().slice(0, static_cast<std::size_t>(values.dim() - 2));
    TORCH_CHECK_VALUE(expectations.dim() > values.dim() - 2 && expectations.size(-1) == functions &&
                          expectations.sizes().slice(0, batch.size()) == batch,
                      "fenchel::libtorch: expectations must have shape (*batch, *queries, N) with batch ",
                      batch, " and N = ", functions, ", got ", expectations.sizes());
    std::vector<std::int64_t> shape = expectations.sizes().vec();
    const std::int64_t queries =
        c10::multiply_integers(shape.begin() + static_cast<std::ptrdiff_t>(batch.size()), shape.end() - 1);
    std::vector<std::int64_t> rows_shape = batch.vec();
    rows_shape.insert(rows_shape.end(), {queries, functions});
    const Tensor rows = expectations.reshape(rows_shape);
    const at::ScalarType type = detail::widened_type(values);
    const bool through_weights =
        queries * length * (functions + size) < functions * size * (length + queries);
    const Tensor contexts = through_weights
                                ? rows.to(at::kDouble).matmul(matrix.mT()).to(type).matmul(observed.to(type))
                                : rows.to(type).matmul(matrix.mT().matmul(observed.to(at::kDouble)).to(type));
    shape.back() = size;
    return contexts.reshape(shape);
  }

 private:
  static constexpr std::size_t kKept = 256;

  [[nodiscard]] bool learned() const { return basis_.mu.requires_grad() || basis_.sigma.requires_grad(); }

  /// G, (L, N) or, for lengths, (..., L, N), and the values with 0 for padding.
  [[nodiscard]] std::pair<Tensor, Tensor> matrix_and_values(const Tensor& values, const Tensor& lengths) {
    TORCH_CHECK_VALUE(values.dim() >= 2 && values.size(-2) > 0,
                      "fenchel::libtorch: values must have shape (..., L, M), L > 0, got ", values.sizes());
    TORCH_CHECK_TYPE(values.is_floating_point(),
                     "fenchel::libtorch: values must be of a floating point type, got ",
                     values.scalar_type());
    const std::int64_t length = values.size(-2);
    if (!lengths.defined()) return {matrix_of(length), values};
    detail::check_lengths(lengths, values.sizes().slice(0, static_cast<std::size_t>(values.dim() - 2)));
    const auto [counts, which, times] = at::_unique2(lengths.to(at::kCPU, at::kLong), true, true);
    Tensor matrices = at::zeros({counts.numel(), length, basis_.mu.numel()}, doubles());
    for (std::int64_t i = 0; i < counts.numel(); ++i) {
      const auto count = counts[i].item<std::int64_t>();
      TORCH_CHECK_VALUE(1 <= count && count <= length, "fenchel::libtorch: lengths must be in [1, ", length,
                        "], got ", count);
      matrices[i].narrow(0, 0, count).copy_(matrix_of(count));
    }
    const Tensor padding = detail::within(lengths, length).logical_not().unsqueeze(-1);
    return {matrices.index({which.to(values.device())}), values.masked_fill(padding, 0)};
  }

  /// G of a sequence of that length.
  [[nodiscard]] Tensor matrix_of(std::int64_t length) {
    if (learned()) return computed(length);
    if (const auto found = kept_.find(length); found != kept_.end()) return found->second;
    if (kept_.size() == kKept) kept_.clear();
    const c10::InferenceMode serves_training_too(false);
    return kept_[length] = computed(length);
  }

  [[nodiscard]] Tensor computed(std::int64_t length) const {
    const Tensor t = (at::arange(length, doubles()) + 0.5) / length;
    const Tensor sigma = basis_.sigma.to(at::kDouble);
    const Tensor z = (t.unsqueeze(-1) - basis_.mu.to(at::kDouble)) / sigma;
    const Tensor design = (z.square() / -2).exp() / (sigma * std::sqrt(2 * std::numbers::pi));
    const bool by_rows = length < basis_.mu.numel();  // the smaller system
    const Tensor system = by_rows ? design.matmul(design.mT()) : design.mT().matmul(design);
    return at::linalg_solve(system + ridge_ * at::eye(system.size(0), doubles()), design, by_rows);
  }

  [[nodiscard]] at::TensorOptions doubles() const { return basis_.mu.options().dtype(at::kDouble); }

  GaussianBasis basis_;
  double ridge_;
  std::map<std::int64_t, Tensor> kept_;
};

}  // namespace fenchel::libtorch
