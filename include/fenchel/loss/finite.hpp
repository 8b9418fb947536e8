#pragma once

/// The losses of one score on a finite measure, with gradients and Hessian.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/predict/finite.hpp"

/// Fenchel-Young losses on a finite measure [SCD22, Section 4.2; docs/math.md 2], for one score. For batches
/// of rows see backend/cpu/entmax_loss.hpp.
namespace fenchel {

struct LossAndGradient {
  double value;
  std::vector<double>
      gradient;  ///< with respect to the scores: predicted less target probability of each atom
};

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction; +inf where q charges a
/// masked atom or one of weight 0. Throws std::invalid_argument when q and f have different sizes.
[[nodiscard]] FENCHEL_EXPORT LossAndGradient fenchel_young(const Tsallis& omega, const VectorScore& f,
                                                           const Finite& domain, const SparseCategorical& q);

/// The same for the target that puts everything on one atom. Throws std::domain_error unless it is one of
/// f's.
[[nodiscard]] FENCHEL_EXPORT LossAndGradient fenchel_young(const Tsallis& omega, const VectorScore& f,
                                                           const Finite& domain, index_t atom);

/// Omega*(f) - E_q[f].
[[nodiscard]] FENCHEL_EXPORT LossAndGradient cross_omega(const Tsallis& omega, const VectorScore& f,
                                                         const Finite& domain, const SparseCategorical& q);

/// The Hessian of both with respect to the scores, n x n: cov_{p, 2-alpha} of the atoms under the prediction
/// p (E11).
FENCHEL_EXPORT void fenchel_young_hessian(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                                          Rows<double> hessian);

}  // namespace fenchel
