#pragma once

/// The loss of `Sobolev` on a chain of atoms.

#include "fenchel/core/config.hpp"
#include "fenchel/loss/gamma_loss.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/sobolev_finite.hpp"

/// The Fenchel-Young loss of the Sobolev regularizer on a chain of atoms, for one score [SCD22, Section 7;
/// docs/math.md 6.2]. For batches of rows see backend/cpu/smooth_sparsemax.hpp.
namespace fenchel {

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction; +inf where q charges a
/// masked atom or one of weight 0. Throws std::invalid_argument when q and f have different sizes.
[[nodiscard]] FENCHEL_EXPORT GammaLossAndGradient fenchel_young(const Sobolev& omega, const VectorScore& f,
                                                                const Finite& domain,
                                                                const SparseCategorical& q);

}  // namespace fenchel
