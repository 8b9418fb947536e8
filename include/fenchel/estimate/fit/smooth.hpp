#pragma once

/// `fit_smooth_parabola` and `fit_smooth_triangular`.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/smooth_parabola.hpp"
#include "fenchel/distribution/line/smooth_triangular.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

/// The predictions of Sobolev(gamma), gamma given, that match moments of data, by bracketed Newton steps
/// (docs/math.md 6.2): every variance and every deviation is that of one member. All throw std::domain_error
/// unless gamma is finite and not negative and the data has two values at least.
namespace fenchel {

/// That with the mean and the variance of the data: "mu" and "sigma2".
[[nodiscard]] FENCHEL_EXPORT Fit<SmoothParabola> fit_smooth_parabola(double gamma,
                                                                     const LineMoments& moments);

/// That with the median of the data, which is the centre of these moments, and E|t - mu|: "mu" and "b".
[[nodiscard]] FENCHEL_EXPORT Fit<SmoothTriangular> fit_smooth_triangular(double gamma,
                                                                         const AbsoluteMoments& moments);
/// The same about the lower weighted median, in several passes.
[[nodiscard]] FENCHEL_EXPORT Fit<SmoothTriangular> fit_smooth_triangular(double gamma, const Data& data);

}  // namespace fenchel
