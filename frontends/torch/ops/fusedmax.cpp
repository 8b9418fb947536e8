#include "fenchel/backend/cpu/fusedmax.hpp"

#include <torch/csrc/stable/library.h>

#include "ops/cpu.hpp"
#include "ops/row_map.hpp"

/// fusedmax and its derivatives.
namespace fenchel::ops {
namespace {

Tensor fusedmax(const Tensor& scores, const std::optional<Tensor>& gammas, double gamma, std::int64_t dim) {
  return row_map<Cpu>("gammas", scores, gammas, gamma, dim,
                      [](auto z, PerRow strength, auto p) { cpu::fusedmax(z, strength, p); });
}

std::tuple<Tensor, Tensor> fusedmax_vjp(const Tensor& p, const std::optional<Tensor>& gammas,
                                        const Tensor& grad_p, double gamma, std::int64_t dim) {
  return row_map_vjp<Cpu>(
      "gammas", p, gammas, grad_p, gamma, dim,
      [](auto prediction, PerRow strength, auto cotangent, auto grad_scores, auto grad_gammas) {
        cpu::fusedmax_vjp(prediction, strength, cotangent, grad_scores, {}, grad_gammas);
      });
}

Tensor fusedmax_jvp(const Tensor& p, const std::optional<Tensor>& gammas, const Tensor& d_scores,
                    const std::optional<Tensor>& d_gammas, double gamma, std::int64_t dim) {
  return row_map_jvp<Cpu>("gammas", p, gammas, d_scores, d_gammas, gamma, dim,
                          [](auto prediction, PerRow strength, auto direction, auto d_p, auto d_strength) {
                            cpu::fusedmax_jvp(prediction, strength, direction, d_p, {}, d_strength);
                          });
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("fusedmax", TORCH_BOX(&fusedmax));
  m.impl("fusedmax_vjp", TORCH_BOX(&fusedmax_vjp));
  m.impl("fusedmax_jvp", TORCH_BOX(&fusedmax_jvp));
}

}  // namespace fenchel::ops
