#pragma once

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/sobolev_finite.hpp"

/// The Fenchel-Young loss of the Sobolev regularizer on a chain of atoms, for one score [SCD22, Section 7;
/// MATH.md 6.2]. For batches of rows see backend/smooth_sparsemax.hpp.
namespace fenchel {

struct SobolevLossAndGradient {
  double value;
  std::vector<double>
      gradient;  ///< with respect to the scores: predicted less target probability of each atom
  double gamma;  ///< with respect to gamma
};

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction; +inf where q charges a
/// masked atom or one of weight 0. Throws std::invalid_argument when q and f have different sizes.
[[nodiscard]] FENCHEL_EXPORT SobolevLossAndGradient fenchel_young(const Sobolev& omega, const VectorScore& f,
                                                                  const Finite& domain,
                                                                  const SparseCategorical& q);

}  // namespace fenchel
