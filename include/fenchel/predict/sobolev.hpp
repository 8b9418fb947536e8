#pragma once

/// `predict` of `Sobolev` for quadratic and absolute scores: `SmoothParabola` and `SmoothTriangular`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/predict/predict.hpp"
#include "fenchel/regularizer/sobolev.hpp"
#include "fenchel/score/absolute_score.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// Continuous smooth sparsemax on the line [SCD22, Section 7; docs/math.md 6.2]; a temperature multiplies
/// sigma2, or b. All throw std::domain_error when that overflows.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT SmoothParabola predict(const Sobolev& omega, const QuadraticScore& f,
                                                    Line domain);
[[nodiscard]] FENCHEL_EXPORT SmoothTriangular predict(const Sobolev& omega, const AbsoluteScore& f,
                                                      Line domain);

/// Omega*(f) = max_p E_p[f] - Omega(p) = 1/2 + (E_p[f] + tau) / 2 at temperature 1.
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Sobolev& omega, const QuadraticScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT double conjugate(const Sobolev& omega, const AbsoluteScore& f, Line domain);

/// A = tau + T, tau the threshold of f, and its derivatives in mu, the scale and gamma: at gamma = 0 the
/// one-sided ones, of which that of second order is infinite for a quadratic score.
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Sobolev& omega, const AbsoluteScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT AbsoluteGammaGradient normalizer_gradient(const Sobolev& omega,
                                                                       const AbsoluteScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<3> normalizer_hessian(const Sobolev& omega, const AbsoluteScore& f,
                                                           Line domain);
[[nodiscard]] FENCHEL_EXPORT double normalizer(const Sobolev& omega, const QuadraticScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT QuadraticGammaGradient normalizer_gradient(const Sobolev& omega,
                                                                        const QuadraticScore& f, Line domain);
[[nodiscard]] FENCHEL_EXPORT Hessian<3> normalizer_hessian(const Sobolev& omega, const QuadraticScore& f,
                                                           Line domain);

}  // namespace fenchel
