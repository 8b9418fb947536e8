#pragma once

/// `fit_beta_laplace`: by the median and the mean deviation.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_laplace.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// The member of this alpha with the median of the data, which is the centre of these moments, and its mean
/// deviation E|t - mu| = spread / (2 alpha - 1), derived: "mu" and "b". The standard error of b is finite for
/// alpha > 2/3. Throws std::domain_error unless alpha is above 1/2 and finite, the centre a median and the
/// deviation positive, and where b is no double: for alpha in the hundreds, unless the deviation is near 1/4.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaLaplace> fit_beta_laplace(double alpha, const AbsoluteMoments& moments);
/// The same about the lower weighted median, in several passes.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaLaplace> fit_beta_laplace(double alpha, const Data& data);

}  // namespace fenchel
