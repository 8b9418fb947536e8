#pragma once

/// `fit_capped_parabola` and `fit_capped_triangular`, in closed form.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/capped_parabola.hpp"
#include "fenchel/distribution/line/capped_triangular.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

/// The predictions of TotalVariation(gamma), gamma given, that match moments of data, in closed form
/// (docs/math.md 6.1): every variance and every deviation is that of one member. All throw std::domain_error
/// unless gamma is finite and not negative and the data has two values at least.
namespace fenchel {

/// That with the mean and the variance of the data: "mu" and "sigma2".
[[nodiscard]] FENCHEL_EXPORT Fit<CappedParabola> fit_capped_parabola(double gamma,
                                                                     const LineMoments& moments);

/// That with the median of the data, which is the centre of these moments, and E|t - mu|: "mu" and "b".
[[nodiscard]] FENCHEL_EXPORT Fit<CappedTriangular> fit_capped_triangular(double gamma,
                                                                         const AbsoluteMoments& moments);
/// The same about the lower weighted median, in several passes.
[[nodiscard]] FENCHEL_EXPORT Fit<CappedTriangular> fit_capped_triangular(double gamma, const Data& data);

}  // namespace fenchel
