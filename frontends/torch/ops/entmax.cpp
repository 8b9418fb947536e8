#include "fenchel/backend/cpu/entmax.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "ops/cpu.hpp"
#include "ops/row_map.hpp"

/// entmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor entmax(const Tensor& scores, const std::optional<Tensor>& alphas, double alpha, std::int64_t dim) {
  return row_map<Cpu>("alphas", scores, alphas, alpha, dim,
                      [](auto z, PerRow order, auto p) { cpu::entmax(z, order, p); });
}

std::tuple<Tensor, Tensor> entmax_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                      const Tensor& grad_p, double alpha, std::int64_t dim) {
  return row_map_vjp<Cpu>(
      "alphas", p, alphas, grad_p, alpha, dim,
      [](auto prediction, PerRow order, auto cotangent, auto grad_scores, auto grad_alphas) {
        cpu::entmax_vjp(prediction, order, cotangent, grad_scores, grad_alphas);
      });
}

Tensor entmax_jvp(const Tensor& p, const std::optional<Tensor>& alphas, const Tensor& d_scores,
                  const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim) {
  return row_map_jvp<Cpu>("alphas", p, alphas, d_scores, d_alphas, alpha, dim,
                          [](auto prediction, PerRow order, auto direction, auto d_p, auto d_order) {
                            cpu::entmax_jvp(prediction, order, direction, d_p, d_order);
                          });
}

std::tuple<Tensor, Tensor> entmax_vjp_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                          const Tensor& grad_p, const Tensor& weight_scores,
                                          const std::optional<Tensor>& weight_alphas, double alpha,
                                          std::int64_t dim) {
  return row_map_vjp_vjp<Cpu>("alphas", p, alphas, grad_p, weight_scores, weight_alphas, alpha, dim,
                              [](const auto&... arguments) { cpu::entmax_vjp_vjp(arguments...); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("entmax", TORCH_BOX(&entmax));
  m.impl("entmax_vjp", TORCH_BOX(&entmax_vjp));
  m.impl("entmax_jvp", TORCH_BOX(&entmax_jvp));
  m.impl("entmax_vjp_vjp", TORCH_BOX(&entmax_vjp_vjp));
}

}  // namespace fenchel::ops
