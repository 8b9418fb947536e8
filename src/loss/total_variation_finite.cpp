#include "fenchel/loss/total_variation_finite.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "fenchel/loss/finite.hpp"

namespace fenchel {

/// With x the fused scores and u the string, E_q[x - f] = -sum_k u_k dq_k: the loss of Tsallis(2) at x, and T
/// gamma |dq_k| - u_k dq_k for each edge.
GammaLossAndGradient fenchel_young(const TotalVariation& omega, const VectorScore& f, const Finite& domain,
                                   const SparseCategorical& q) {
  const FusedScores fused = fuse(omega, f, domain);
  const Tsallis sparse(2, omega.temperature());
  LossAndGradient loss = fenchel_young(sparse, fused.scores, domain, q);
  const std::vector<double> p = predict_density(sparse, fused.scores, domain).density;
  const double cap = omega.temperature() * omega.gamma();
  const auto target = [&](std::size_t k) {
    const std::size_t i = fused.atoms[k];
    return pmf(q, static_cast<index_t>(i)) / domain.weight(i);
  };
  double variation = 0;
  for (std::size_t k = 0; k < fused.string.size(); ++k) {
    const double rise = target(k + 1) - target(k);
    loss.value += std::max(cap * std::abs(rise) - fused.string[k] * rise, 0.0);
    variation += std::abs(rise) - std::abs(p[fused.atoms[k + 1]] - p[fused.atoms[k]]);
  }
  return {loss.value, std::move(loss.gradient), omega.temperature() * variation};
}

}  // namespace fenchel
