#include "fenchel/backend/entmax.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/entmax_derivatives.hpp"
#include "ops/row_map.hpp"

/// entmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor entmax(const Tensor& scores, const std::optional<Tensor>& alphas, double alpha, std::int64_t dim) {
  return row_map("alphas", scores, alphas, alpha, dim,
                 [](auto z, PerRow order, auto p) { cpu::entmax(z, order, p); });
}

std::tuple<Tensor, Tensor> entmax_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                      const Tensor& grad_p, double alpha, std::int64_t dim) {
  return row_map_vjp("alphas", p, alphas, grad_p, alpha, dim,
                     [](auto prediction, PerRow order, auto cotangent, auto grad_scores, auto grad_alphas) {
                       cpu::entmax_vjp(prediction, order, cotangent, grad_scores, grad_alphas);
                     });
}

Tensor entmax_jvp(const Tensor& p, const std::optional<Tensor>& alphas, const Tensor& d_scores,
                  const std::optional<Tensor>& d_alphas, double alpha, std::int64_t dim) {
  return row_map_jvp("alphas", p, alphas, d_scores, d_alphas, alpha, dim,
                     [](auto prediction, PerRow order, auto direction, auto d_p, auto d_order) {
                       cpu::entmax_jvp(prediction, order, direction, d_p, d_order);
                     });
}

std::tuple<Tensor, Tensor> entmax_vjp_vjp(const Tensor& p, const std::optional<Tensor>& alphas,
                                          const Tensor& grad_p, const Tensor& weight_scores,
                                          const std::optional<Tensor>& weight_alphas, double alpha,
                                          std::int64_t dim) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("p", p);
  const InputRows prediction("p", p, dim, type), cotangent("grad_p", grad_p, p, dim, type),
      weight("weight_scores", weight_scores, p, dim, type);
  const OutputRows grad_scores(p, dim, type);
  const Parameter order("alphas", alpha, alphas, p, dim);
  const InputPerRow weight_order("weight_alphas", weight_alphas, p, dim);
  const OutputPerRow grad_alphas(alphas, p, dim);
  if (p.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      cpu::entmax_vjp_vjp(prediction.rows<Real>(), order.per_row(), cotangent.rows<Real>(),
                          weight.rows<Real>(), weight_order.values(), grad_scores.rows<Real>(),
                          grad_alphas.values());
    });
  }
  return {grad_scores.tensor(), grad_alphas.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("entmax", TORCH_BOX(&entmax));
  m.impl("entmax_vjp", TORCH_BOX(&entmax_vjp));
  m.impl("entmax_jvp", TORCH_BOX(&entmax_jvp));
  m.impl("entmax_vjp_vjp", TORCH_BOX(&entmax_vjp_vjp));
}

}  // namespace fenchel::ops
