#pragma once

/// `predict` of `Sobolev` for quadratic and absolute scores: `SmoothParabola` and `SmoothTriangular`.

#include "fenchel/core/config.hpp"
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

}  // namespace fenchel
