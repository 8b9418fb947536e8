#pragma once

/// `predict` of `TotalVariation` for quadratic and absolute scores: `CappedParabola` and `CappedTriangular`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/total_variation.hpp"
#include "fenchel/score/absolute_score.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// Continuous fusedmax on the line [SCD22, Section 7; docs/math.md 6.1]. All throw std::domain_error when the
/// scale of f / temperature or of the prediction overflows.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT CappedTriangular predict(const TotalVariation& omega, const AbsoluteScore& f,
                                                      Line domain);
[[nodiscard]] FENCHEL_EXPORT CappedParabola predict(const TotalVariation& omega, const QuadraticScore& f,
                                                    Line domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = T (1/2 + tau + (1/2) int p^2), T the temperature, by docs/math.md
/// E10.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const TotalVariation& omega, const AbsoluteScore& f,
                                              Line domain);
[[nodiscard]] FENCHEL_EXPORT double conjugate(const TotalVariation& omega, const QuadraticScore& f,
                                              Line domain);

/// A = tau + T, tau the threshold of f, and its derivatives in mu, the scale and gamma.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const TotalVariation& omega, const AbsoluteScore& f,
                                               Line domain);
[[nodiscard]] FENCHEL_EXPORT AbsoluteGammaGradient normalizer_gradient(const TotalVariation& omega,
                                                                       const AbsoluteScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<3> normalizer_hessian(const TotalVariation& omega,
                                                           const AbsoluteScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT double normalizer(const TotalVariation& omega, const QuadraticScore& f,
                                               Line domain);
[[nodiscard]] FENCHEL_EXPORT QuadraticGammaGradient normalizer_gradient(const TotalVariation& omega,
                                                                        const QuadraticScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<3> normalizer_hessian(const TotalVariation& omega,
                                                           const QuadraticScore& f, Line domain);

}  // namespace fenchel
