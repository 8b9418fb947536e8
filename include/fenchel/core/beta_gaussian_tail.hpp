#pragma once

/// The tail of a beta-Gaussian on the line, its logarithm and its inverse.

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"

/// Tails of beta-Gaussians on the line at x = (t - mu) / sigma >= 0 (docs/math.md 5.6): I_{1 - x^2/R^2}(1 +
/// s, 1/2) / 2, s = 1/am1, R^2 = radius2, for alpha > 1; Student's t with nu = -2/am1 - 1 degrees of freedom
/// for alpha < 1. One incomplete beta function, which keeps its digits as alpha -> 1, serves all of them.
namespace fenchel {

/// P(X > x) for x >= 0, and its logarithm, which goes on where the tail underflows.
[[nodiscard]] FENCHEL_EXPORT double upper_tail(const BetaGaussianConstants& c, double x);
[[nodiscard]] FENCHEL_EXPORT double log_upper_tail(const BetaGaussianConstants& c, double x);

/// The x >= 0 with P(X > x) = u, for u in [0, 1/2].
[[nodiscard]] FENCHEL_EXPORT double upper_tail_quantile(const BetaGaussianConstants& c, double u);

}  // namespace fenchel
