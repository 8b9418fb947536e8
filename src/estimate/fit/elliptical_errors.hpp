#pragma once

#include "fenchel/core/index.hpp"
#include "fenchel/estimate/fit/elliptical_covariance.hpp"

/// How far estimators of a beta-Gaussian on R^N spread that match the mean, the covariance V and, where alpha
/// is estimated, Mardia's kurtosis E[q^2] of q = (t - mean)^T V^-1 (t - mean), in large samples from it: the
/// delta method with its moments E[q^k] = prod_{j<k} (N + 2j) (2 + (N+2) am1) / (2 + (N+2+2j) am1), derived.
namespace fenchel::detail {

/// Where alpha is given. Infinite alpha stands for the uniform distributions, with Sigma a multiple of V.
[[nodiscard]] EllipticalErrors scale_errors(index_t dimension, double am1);
/// Where alpha is estimated, log_det being that of V; NaN for an infinite alpha.
[[nodiscard]] EllipticalErrors scale_and_alpha_errors(index_t dimension, double am1, double log_det);

/// alpha - 1 of the member with the kurtosis `ratio` N (N + 2): 2 (1 - ratio) / ((N + 4) ratio - (N + 2)),
/// derived. Infinite where the ratio is not above that of the uniform distribution, (N + 2) / (N + 4), or
/// so little above it that Sigma = kappa V, log_size being the largest |log V_ii|, might be no double.
[[nodiscard]] double am1_of_kurtosis(index_t dimension, double ratio, double log_det, double log_size);

/// log kappa of Sigma = kappa V for the member with covariance V (docs/math.md 5.6), and its derivative in
/// alpha.
struct LogScaleFactor {
  double value, alpha_derivative;
};
[[nodiscard]] LogScaleFactor log_scale_factor(index_t dimension, double am1, double log_det);

}  // namespace fenchel::detail
