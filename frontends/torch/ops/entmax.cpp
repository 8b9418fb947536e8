#include <torch/csrc/stable/library.h>

#include "ops/row_map.hpp"

/// entmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor entmax(const Tensor& scores, const std::optional<Tensor>& alphas, double alpha, std::int64_t dim) {
  return row_map("alphas", scores, alphas, alpha, dim, [](const auto&... a) { backend::entmax(a...); });
}

std::tuple<Tensor, Tensor> entmax_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                      const Tensor& grad_p, double alpha, std::int64_t dim) {
  return row_map_vjp("alphas", p, alphas, grad_p, alpha, dim,
                     [](const auto&... a) { backend::entmax_vjp(a...); });
}

Tensor entmax_jvp(const Tensor& p, const std::optional<Tensor>& alphas, const Tensor& d_scores,
                  const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim) {
  return row_map_jvp("alphas", p, alphas, d_scores, d_alphas, alpha, dim,
                     [](const auto&... a) { backend::entmax_jvp(a...); });
}

std::tuple<Tensor, Tensor> entmax_vjp_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                          const Tensor& grad_p, const Tensor& weight_scores,
                                          const std::optional<Tensor>& weight_alphas, double alpha,
                                          std::int64_t dim) {
  return row_map_vjp_vjp("alphas", p, alphas, grad_p, weight_scores, weight_alphas, alpha, dim,
                         [](const auto&... a) { backend::entmax_vjp_vjp(a...); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("entmax", TORCH_BOX(&entmax));
  m.impl("entmax_value", TORCH_BOX(&entmax));
  m.impl("entmax_vjp", TORCH_BOX(&entmax_vjp));
  m.impl("entmax_jvp", TORCH_BOX(&entmax_jvp));
  m.impl("entmax_vjp_vjp", TORCH_BOX(&entmax_vjp_vjp));
}

}  // namespace fenchel::ops
