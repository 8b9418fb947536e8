#pragma once

/// `predict` for quadratic scores on the line: `BetaGaussian`.

#include <array>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The beta-Gaussian of this alpha [SCD22, Section 6]; a temperature multiplies sigma2. Throws
/// std::domain_error unless alpha > 1/3: below, E_p[f] is -infinity and there is no maximum
/// (docs/math.md 5.4, E16).
[[nodiscard]] FENCHEL_EXPORT BetaGaussian predict(const Tsallis& omega, const QuadraticScore& f, Line domain);

/// Omega*(f) = max_p E_p[f] - Omega(p).
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const QuadraticScore& f, Line domain);

/// A of the prediction exp_{2-alpha}((f - A) / T), and the gradient of A + mu^2 / (2 sigma2) with respect to
/// the canonical parameters theta = (mu / sigma2, -1 / (2 sigma2)): the mean of (t, t^2) under the escort of
/// order 2 - alpha.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const QuadraticScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT std::array<double, 2> normalizer_gradient(const Tsallis& omega,
                                                                       const QuadraticScore& f, Line domain);
/// Its Hessian there.
[[nodiscard]] FENCHEL_EXPORT Hessian<2> normalizer_hessian(const Tsallis& omega, const QuadraticScore& f,
                                                           Line domain);

}  // namespace fenchel
