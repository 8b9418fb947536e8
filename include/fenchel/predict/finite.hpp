#pragma once

/// `predict`, `conjugate` and the normaliser with its derivatives, for one score on a finite measure.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/normalizer.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/domain/finite.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/vector_score.hpp"

/// Predictions on a finite measure [SCD22, Section 4.2; docs/math.md 2]. With temperature T the density is
/// p = exp_{2-alpha}((f - A) / T), which for T = 1 and the counting measure is entmax. All functions throw
/// std::invalid_argument when the domain has weights and not one for each score, and std::domain_error when
/// no score of positive weight is finite.
namespace fenchel {

namespace detail {
/// Throws std::invalid_argument when the domain has weights and not one for each score.
FENCHEL_EXPORT void check_weights(const VectorScore& f, const Finite& domain);
}  // namespace detail

/// softmax, and entmax for every alpha > 0.
[[nodiscard]] FENCHEL_EXPORT SparseCategorical predict(const Tsallis& omega, const VectorScore& f,
                                                       const Finite& domain);

/// A prediction as a density with respect to the measure. A and tau are kept less the largest score, which
/// may be so large that they would drown in it.
struct FiniteDensity {
  std::vector<double> density;  ///< sum_i w_i density_i = 1; 0 for atoms of weight 0
  double top;                   ///< the largest score of positive weight
  double normalizer_offset;     ///< A - top
  double threshold_offset;      ///< tau - top; for alpha > 1 the density reaches 0 at the score tau; -inf for
                                ///< alpha = 1
};
[[nodiscard]] FENCHEL_EXPORT FiniteDensity predict_density(const Tsallis& omega, const VectorScore& f,
                                                           const Finite& domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = ((alpha - 1) E_p[f] + A) / alpha.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const VectorScore& f,
                                              const Finite& domain);

/// A, its gradient (the escort probabilities of order 2 - alpha), and its Hessian in all pairs of scores, n x
/// n: (2 - alpha) sum_i w_i p_i^{3 - 2 alpha} (e_i - e)(e_i - e)^T / (T sum_i w_i p_i^{2 - alpha}), e the
/// gradient. It is indefinite for alpha > 2, and 0 at alpha = 2, where A is piecewise linear (docs/math.md
/// E15).
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const VectorScore& f,
                                               const Finite& domain);
[[nodiscard]] FENCHEL_EXPORT std::vector<double> normalizer_gradient(const Tsallis& omega,
                                                                     const VectorScore& f,
                                                                     const Finite& domain);
FENCHEL_EXPORT void normalizer_hessian(const Tsallis& omega, const VectorScore& f, const Finite& domain,
                                       Rows<double> hessian);

}  // namespace fenchel
