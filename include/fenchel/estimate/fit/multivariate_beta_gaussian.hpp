#pragma once

/// `fit_multivariate_beta_gaussian`: by mean and covariance.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/moments.hpp"

namespace fenchel {

/// The beta-Gaussian on R^N of this alpha with the mean and the covariance of the data, in closed form
/// (docs/math.md 5.6): "mu[0]", ... and the lower triangle of Sigma, "Sigma[0,0]", "Sigma[1,0]",
/// "Sigma[1,1]", ... Standard errors of Sigma are finite for alpha > (N + 2) / (N + 4).
///
/// Throws std::domain_error unless alpha is above N / (N + 2) and finite; where a column is constant or a
/// linear combination of those before it, naming it; and as MultivariateBetaGaussian::from_covariance does
/// where Sigma is no double.
[[nodiscard]] FENCHEL_EXPORT Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(
    double alpha, const Moments& moments);
/// The same from data, in one pass: messages name its columns.
[[nodiscard]] FENCHEL_EXPORT Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(double alpha,
                                                                                          const Data& data);

/// "alpha" and these with Mardia's kurtosis of the data too, in two passes: with r = E[q^2] / (N (N + 2)),
/// alpha - 1 = 2 (1 - r) / ((N + 4) r - (N + 2)), derived; standard errors of alpha and Sigma are finite for
/// alpha > (N + 6) / (N + 8).
///
/// Where r is at most (N + 2) / (N + 4), or so little more that Sigma is no double, it is
/// MultivariateBetaGaussian::uniform with that mean and covariance, as Sigma: alpha is infinite and its
/// standard error NaN.
[[nodiscard]] FENCHEL_EXPORT Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(const Data& data);

}  // namespace fenchel
