#pragma once

/// `predict` of `Sobolev` on a chain of atoms: smooth sparsemax.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/score/vector_score.hpp"

/// Predictions of the Sobolev regularizer on a chain of atoms with a measure w [SCD22, Section 7;
/// docs/math.md 6.2]:
///   Omega(p) = (sum_i w_i p_i^2 - 1) / 2 + (gamma / 2) sum_k (p_{k+1} - p_k)^2,  sum_i w_i p_i = 1,
/// p the density, for the counting measure smooth sparsemax (backend/cpu/smooth_sparsemax.hpp).
///
/// Neighbours are the atoms as listed, where an atom of weight 0 does not exist; a masked one does, and holds
/// its neighbours to its density 0. On a grid of step h, weights of h and gamma / h approximate the gamma of
/// the line to order h^2. Throws as for Tsallis (predict/finite.hpp).
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT SparseCategorical predict(const Sobolev& omega, const VectorScore& f,
                                                       const Finite& domain);

/// A prediction as a density with respect to the measure, with the multipliers of p >= 0 in
///   w_i p_i + gamma (L p)_i = w_i (f_i - tau) / T + slack_i.
struct SobolevDensity {
  std::vector<double> density;  ///< sum_i w_i density_i = 1; 0 for atoms of weight 0
  std::vector<double> slack;    ///< 0 on the support; +inf for masked atoms and those of weight 0
  double top;                   ///< the largest score of positive weight
  double threshold_offset;      ///< tau - top
};
[[nodiscard]] FENCHEL_EXPORT SobolevDensity predict_density(const Sobolev& omega, const VectorScore& f,
                                                            const Finite& domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = (E_p[f] + tau + T) / 2.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Sobolev& omega, const VectorScore& f,
                                              const Finite& domain);

}  // namespace fenchel
