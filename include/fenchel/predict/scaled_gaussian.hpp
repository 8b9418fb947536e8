#pragma once

/// `predict` for scaled Gaussian scores on the line: `TruncatedGaussian`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/scaled_gaussian_score.hpp"

namespace fenchel {

/// [SCD22, Section 5.4]. Throws std::domain_error unless alpha = 2, the only one with a closed form, and
/// kappa / temperature > 1 (docs/math.md E17).
[[nodiscard]] FENCHEL_EXPORT TruncatedGaussian predict(const Tsallis& omega, const ScaledGaussianScore& f,
                                                       Line domain);

/// Omega*(f) = 1/2 + tau + (1/2) int p^2 at temperature 1.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const ScaledGaussianScore& f,
                                              Line domain);

/// A = tau + T of the prediction [(f - tau) / T]_+, and its derivatives in kappa, mu and sigma2: the first
/// are the means of those of f over the support (docs/math.md 2.5, 3.1).
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const ScaledGaussianScore& f,
                                               Line domain);
[[nodiscard]] FENCHEL_EXPORT ScaledGaussianGradient normalizer_gradient(const Tsallis& omega,
                                                                        const ScaledGaussianScore& f,
                                                                        Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<3> normalizer_hessian(const Tsallis& omega, const ScaledGaussianScore& f,
                                                           Line domain);

}  // namespace fenchel
