#include "fenchel/backend/cuda/entmax.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cuda/entmax_derivatives.hpp"
#include "ops/cuda/device.hpp"
#include "ops/row_map.hpp"

/// entmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor entmax(const Tensor& scores, const std::optional<Tensor>& alphas, double alpha, std::int64_t dim) {
  return row_map<Cuda>("alphas", scores, alphas, alpha, dim,
                       [](const auto&... arguments) { cuda::entmax(arguments...); });
}

std::tuple<Tensor, Tensor> entmax_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                      const Tensor& grad_p, double alpha, std::int64_t dim) {
  return row_map_vjp<Cuda>(
      "alphas", p, alphas, grad_p, alpha, dim,
      [](auto prediction, auto order, auto cotangent, auto grad_scores, auto grad_alphas, auto stream) {
        cuda::entmax_vjp(prediction, order, cotangent, grad_scores, grad_alphas.data(), stream);
      });
}

Tensor entmax_jvp(const Tensor& p, const std::optional<Tensor>& alphas, const Tensor& d_scores,
                  const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim) {
  return row_map_jvp<Cuda>(
      "alphas", p, alphas, d_scores, d_alphas, alpha, dim,
      [](auto prediction, auto order, auto direction, auto d_p, auto d_order, auto stream) {
        cuda::entmax_jvp(prediction, order, direction, d_order.data(), d_p, stream);
      });
}

std::tuple<Tensor, Tensor> entmax_vjp_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                          const Tensor& grad_p, const Tensor& weight_scores,
                                          const std::optional<Tensor>& weight_alphas, double alpha,
                                          std::int64_t dim) {
  return row_map_vjp_vjp<Cuda>("alphas", p, alphas, grad_p, weight_scores, weight_alphas, alpha, dim,
                               [](auto prediction, auto order, auto cotangent, auto weight, auto weight_order,
                                  auto grad_scores, auto grad_alphas, auto stream) {
                                 cuda::entmax_vjp_vjp(prediction, order, cotangent, weight,
                                                      weight_order.data(), grad_scores, grad_alphas.data(),
                                                      stream);
                               });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("entmax", TORCH_BOX(&entmax));
  m.impl("entmax_vjp", TORCH_BOX(&entmax_vjp));
  m.impl("entmax_jvp", TORCH_BOX(&entmax_jvp));
  m.impl("entmax_vjp_vjp", TORCH_BOX(&entmax_vjp_vjp));
}

}  // namespace fenchel::ops
