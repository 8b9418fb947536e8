#pragma once

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/multivariate_beta_gaussian.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel {

/// The beta-Gaussian with scale temperature * Sigma [SCD22, Section 6]. Throws std::invalid_argument when f
/// is not a score on the domain, std::domain_error unless alpha > r / (r + 2), where E_p[f] and Omega(p) are
/// finite (MATH.md 5.4).
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian predict(const Tsallis& omega,
                                                              const MultivariateQuadraticScore& f,
                                                              const Euclidean& domain);

}  // namespace fenchel
