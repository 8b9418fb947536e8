#pragma once

/// `predict` for location-scale scores on the line: `LocationScale`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/location_scale_score.hpp"

namespace fenchel {

/// [SCD22, Section 5.5]; with a temperature the result's score is f / temperature. Throws std::domain_error
/// unless alpha = 2, the only one with a closed form, and as LocationScale does.
[[nodiscard]] FENCHEL_EXPORT LocationScale predict(const Tsallis& omega, const LocationScaleScore& f,
                                                   Line domain);

/// Omega*(f) = 1/2 + tau + (1/2) int p^2 at temperature 1.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Tsallis& omega, const LocationScaleScore& f, Line domain);

/// A = T - g'(a) / sigma, which is tau + T, and its derivatives in mu and sigma.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Tsallis& omega, const LocationScaleScore& f,
                                               Line domain);
[[nodiscard]] FENCHEL_EXPORT LocationScaleGradient normalizer_gradient(const Tsallis& omega,
                                                                       const LocationScaleScore& f,
                                                                       Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<2> normalizer_hessian(const Tsallis& omega, const LocationScaleScore& f,
                                                           Line domain);

}  // namespace fenchel
