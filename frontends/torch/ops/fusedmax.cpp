#include <torch/csrc/stable/library.h>

#include "ops/row_map.hpp"

/// fusedmax and its derivatives.
namespace fenchel::ops {
namespace {

using Optional = std::optional<Tensor>;

Tensor fusedmax(const Tensor& scores, const Optional& gammas, const Optional& lengths,
                const Optional& weights, double gamma, std::int64_t dim) {
  const Device::Chain chain(lengths, weights, scores, dim);
  return row_map("gammas", scores, gammas, gamma, dim,
                 [&](const auto&... a) { chain.fusedmax(scores, a...); });
}

std::tuple<Tensor, Tensor> fusedmax_vjp(const Tensor& p, const Optional& gammas, const Optional& lengths,
                                        const Optional& weights, const Tensor& grad_p, double gamma,
                                        std::int64_t dim) {
  const Device::Chain chain(lengths, weights, p, dim);
  return row_map_vjp("gammas", p, gammas, grad_p, gamma, dim,
                     [&](const auto&... a) { chain.fusedmax_vjp(a...); });
}

Tensor fusedmax_jvp(const Tensor& p, const Optional& gammas, const Optional& lengths, const Optional& weights,
                    const Tensor& d_scores, const Optional& d_gammas, double gamma, std::int64_t dim) {
  const Device::Chain chain(lengths, weights, p, dim);
  return row_map_jvp("gammas", p, gammas, d_scores, d_gammas, gamma, dim,
                     [&](const auto&... a) { chain.fusedmax_jvp(a...); });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("fusedmax", TORCH_BOX(&fusedmax));
  m.impl("fusedmax_vjp", TORCH_BOX(&fusedmax_vjp));
  m.impl("fusedmax_jvp", TORCH_BOX(&fusedmax_jvp));
}

}  // namespace fenchel::ops
