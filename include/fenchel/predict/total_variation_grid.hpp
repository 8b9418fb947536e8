#pragma once

/// `predict` of `TotalVariation` on an image: fusedmax of an image.

#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/sparse_categorical.hpp"
#include "fenchel/domain/grid.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/score/vector_score.hpp"

/// Fusedmax of an image [SCD22, Section 7; docs/math.md 6.1]; the total variation is that along rows and
/// columns. For batches, derivatives and accuracy see backend/cpu/fusedmax_grid.hpp. Throw
/// std::invalid_argument unless there is a score for every pixel.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT SparseCategorical predict(const TotalVariation& omega, const VectorScore& f,
                                                       const Grid& domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = T (1/2 + tau + |p|^2 / 2), tau the threshold for f / T.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const TotalVariation& omega, const VectorScore& f,
                                              const Grid& domain);

namespace detail {

/// f less its largest value, divided by the temperature: what the kernels are given.
struct GridScores {
  std::vector<double> values;
  double top;
};
[[nodiscard]] FENCHEL_EXPORT GridScores grid_scores(const TotalVariation& omega, const VectorScore& f,
                                                    const Grid& domain);

}  // namespace detail
}  // namespace fenchel
