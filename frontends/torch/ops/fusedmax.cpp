#include <torch/csrc/stable/library.h>

#include "ops/row_map.hpp"

/// fusedmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor fusedmax(const Tensor& scores, const std::optional<Tensor>& gammas, double gamma, std::int64_t dim) {
  return row_map("gammas", scores, gammas, gamma, dim, [&](const auto&... a) { fusedmax_map(scores, a...); });
}

std::tuple<Tensor, Tensor> fusedmax_vjp(const Tensor& p, const std::optional<Tensor>& gammas,
                                        const Tensor& grad_p, double gamma, std::int64_t dim) {
  return row_map_vjp("gammas", p, gammas, grad_p, gamma, dim,
                     [](const auto&... a) { backend::fusedmax_vjp(a...); });
}

Tensor fusedmax_jvp(const Tensor& p, const std::optional<Tensor>& gammas, const Tensor& d_scores,
                    const std::optional<Tensor>& d_gammas, double gamma, std::int64_t dim) {
  return row_map_jvp("gammas", p, gammas, d_scores, d_gammas, gamma, dim,
                     [](const auto&... a) { backend::fusedmax_jvp(a...); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("fusedmax", TORCH_BOX(&fusedmax));
  m.impl("fusedmax_vjp", TORCH_BOX(&fusedmax_vjp));
  m.impl("fusedmax_jvp", TORCH_BOX(&fusedmax_jvp));
}

}  // namespace fenchel::ops
