#pragma once

/// `predict` for absolute scores on the line: `BetaLaplace`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/absolute_score.hpp"

namespace fenchel {

/// Laplace, triangular, and BetaLaplace for every alpha [SCD22, Section 5.3]. Throws std::domain_error unless
/// alpha > 1/2: else E_p[f] is -infinity.
[[nodiscard]] FENCHEL_EXPORT BetaLaplace predict(const Tsallis& omega, const AbsoluteScore& f, Line domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = ((alpha - 1) E_p[f] + A) / alpha at temperature 1.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const AbsoluteScore& f, Line domain);

/// A of the prediction exp_{2-alpha}((f - A) / T), and its derivatives in theta = -1/b at fixed mu: spread /
/// alpha, the mean of |t - mu| under the escort of order 2 - alpha, and b spread / alpha^2.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const AbsoluteScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT double normalizer_gradient(const Tsallis& omega, const AbsoluteScore& f,
                                                        Line domain);
[[nodiscard]] FENCHEL_EXPORT double normalizer_hessian(const Tsallis& omega, const AbsoluteScore& f,
                                                       Line domain);

}  // namespace fenchel
