#pragma once

/// `fit_beta_gaussian`: by mean and variance, and by the kurtosis where alpha is to be found.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

namespace fenchel {

/// The beta-Gaussian of this alpha with the mean and the variance of the data, in closed form
/// (docs/math.md 5.6): "mu" and "sigma2". Standard errors of sigma2 are finite for alpha > 3/5. Throws
/// std::domain_error unless alpha is above 1/3 and the data has two values at least, and as
/// BetaGaussian::from_variance does where sigma2 is no double: for alpha in the hundreds, unless the variance
/// is near 1/12. At infinite alpha it is fit_uniform.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaGaussian> fit_beta_gaussian(double alpha, const LineMoments& moments);

/// The uniform distribution with the mean and the variance of the data, "lower" and "upper" = mean -+ sqrt(3
/// variance): the limit of the fits above as alpha grows, and not the range of the data, which no loss leads
/// to; values may lie outside. With h half the length and n the weight, the mean has the variance h^2 / (3 n)
/// and h has h^2 / (5 n), by the delta method, and they are not correlated. The loss is the limit of the
/// others, -Omega_inf: 0, or -infinity for a length below 1. Throws std::domain_error unless the data has two
/// values at least.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaGaussian> fit_uniform(const LineMoments& moments);

/// "alpha", "mu" and "sigma2" with the kurtosis k of the data too: alpha - 1 = 2 (3 - k) / (5 k - 9),
/// derived, which is above 3/5; its standard error, and that of sigma2, is finite for alpha > 7/9. Where k is
/// at most 9/5, or so little more that sigma2 is no double, it is the uniform distribution with the mean and
/// the variance of the data, BetaGaussian::uniform: alpha is infinite and its standard error NaN.
[[nodiscard]] FENCHEL_EXPORT Fit<BetaGaussian> fit_beta_gaussian(const LineMoments& moments);

}  // namespace fenchel
