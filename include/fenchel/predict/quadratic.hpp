#pragma once

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/beta_gaussian.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The beta-Gaussian of this alpha [SCD22, Section 6]; a temperature multiplies sigma2. Throws
/// std::domain_error unless alpha > 1/3: below, E_p[f] is -infinity and there is no maximum (MATH.md 5.4,
/// E16).
[[nodiscard]] FENCHEL_EXPORT BetaGaussian predict(const Tsallis& omega, const QuadraticScore& f, Line domain);

}  // namespace fenchel
