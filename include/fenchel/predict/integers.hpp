#pragma once

/// `predict` for Poisson and quadratic scores on the integers.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/poisson_score.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// Predictions on the integers [SCD22, Section 5; docs/math.md 3]. They exist, with a finite E_p[f], for a
/// Poisson score above alpha = 1/2 and for a quadratic one above 1/3: else std::domain_error. f / temperature
/// is a Poisson score no more, so the Poisson family has a temperature; of the Gaussian it scales sigma2.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT SparsePoisson predict(const Tsallis& omega, const PoissonScore& f, Naturals);
[[nodiscard]] FENCHEL_EXPORT SparseIntegerGaussian predict(const Tsallis& omega, const QuadraticScore& f,
                                                           Integers);

}  // namespace fenchel
