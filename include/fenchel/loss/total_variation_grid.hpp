#pragma once

/// The loss of `TotalVariation` on an image.

#include "fenchel/core/config.hpp"
#include "fenchel/loss/gamma_loss.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/total_variation_grid.hpp"

namespace fenchel {

/// Omega*(f) + Omega(q) - E_q[f] on images [SCD22, Section 7; docs/math.md 6.1]: never negative, 0 where q is
/// the prediction; +inf where q charges a masked pixel. Throws std::invalid_argument unless there is a score
/// for every pixel and q has as many atoms. For batches see backend/cpu/fusedmax_grid.hpp.
[[nodiscard]] FENCHEL_EXPORT GammaLossAndGradient fenchel_young(const TotalVariation& omega,
                                                                const VectorScore& f, const Grid& domain,
                                                                const SparseCategorical& q);

}  // namespace fenchel
