#pragma once

/// `fit_beta_gaussian`: by mean and variance, and by the kurtosis where alpha is to be found.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

namespace fenchel {

/// The beta-Gaussian of this alpha with the mean and the variance of the data, in closed form
/// (docs/math.md 5.6): "mu" and "sigma2". Standard errors of sigma2 are finite for alpha > 3/5. Throws
/// std::domain_error unless alpha is above 1/3 and finite and the data has two values at least, and as
/// BetaGaussian::from_variance does where sigma2 is no double: for alpha in the hundreds, unless the variance
/// is near 1/12.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaGaussian> fit_beta_gaussian(double alpha, const LineMoments& moments);

/// "alpha", "mu" and "sigma2" with the kurtosis k of the data too: alpha - 1 = 2 (3 - k) / (5 k - 9),
/// derived, which is above 3/5; its standard error, and that of sigma2, is finite for alpha > 7/9. Where k is
/// at most 9/5, or so little more that sigma2 is no double, it is the uniform distribution with the mean and
/// the variance of the data, BetaGaussian::uniform: alpha is infinite and its standard error NaN.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaGaussian> fit_beta_gaussian(const LineMoments& moments);

}  // namespace fenchel
