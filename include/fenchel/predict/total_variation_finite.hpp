#pragma once

/// `predict` of `TotalVariation` on a chain of atoms: fusedmax.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/score/vector_score.hpp"

/// fusedmax for one score on a finite measure, whose atoms form a chain in their order [SCD22, Section 7;
/// docs/math.md 6.1]: Omega(p) = (sum w p^2 - 1) / 2 + gamma sum |p_{i+1} - p_i| of densities p. A grid of
/// step h on the line is the domain with all weights h. Atoms of weight 0 are left out; a masked score stays,
/// with density 0. For batches of rows see backend/cpu/fusedmax.hpp. Throw as the predictions of Tsallis do.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT SparseCategorical predict(const TotalVariation& omega, const VectorScore& f,
                                                       const Finite& domain);

/// Omega*(f) = max_p E_p[f] - Omega(p), that of Tsallis(2) at the score of `fuse`.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const TotalVariation& omega, const VectorScore& f,
                                              const Finite& domain);

/// The proximal map of temperature * gamma * TV at f, and the taut string less the middle of its tube after
/// each atom that has a next one: between -temperature * gamma and its opposite, equal to them where the
/// scores rise or fall.
struct FusedScores {
  VectorScore scores;          ///< Tsallis(2, temperature) of them is the prediction; f where the weight is 0
  std::vector<double> string;  ///< one for each edge of the chain
  std::vector<std::size_t> atoms;  ///< of positive weight: the chain
};
[[nodiscard]] FENCHEL_EXPORT FusedScores fuse(const TotalVariation& omega, const VectorScore& f,
                                              const Finite& domain);

}  // namespace fenchel
