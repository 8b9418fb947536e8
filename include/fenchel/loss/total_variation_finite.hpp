#pragma once

/// The loss of `TotalVariation` on a chain of atoms.

#include "fenchel/core/config.hpp"
#include "fenchel/loss/gamma_loss.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/total_variation_finite.hpp"

namespace fenchel {

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 where q is the prediction; +inf where q charges a masked
/// atom or one of weight 0. Throws std::invalid_argument when q and f have different sizes. For batches of
/// rows see backend/cpu/fusedmax.hpp.
[[nodiscard]] FENCHEL_EXPORT GammaLossAndGradient fenchel_young(const TotalVariation& omega,
                                                                const VectorScore& f, const Finite& domain,
                                                                const SparseCategorical& q);

}  // namespace fenchel
