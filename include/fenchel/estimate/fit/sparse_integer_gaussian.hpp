#pragma once

/// `fit_sparse_integer_gaussian`: by mean and variance, and alpha by likelihood.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"

namespace fenchel {

/// The SparseIntegerGaussian with the mean and the variance of the data, by Newton's method in the canonical
/// parameters (mu / sigma2, -1 / (2 sigma2)), in which the loss is convex. Moments agree to 1e-9.
///
/// Throws std::domain_error unless 1/3 < alpha < infinity, where all data lies on one integer or two
/// neighbours (the variance is then the least for its mean, and sigma2 can be anything small), and where
/// sigma2, which grows like the standard deviation to the power alpha + 1, overflows.
///
/// ConvergenceError where the minimiser does not converge: for alpha far above 5, where a probability near 0
/// is the 1 / (alpha - 1)th power of the rounding of the score, so that moments jump between neighbouring
/// parameters.
[[nodiscard]] FENCHEL_EXPORT Fit<SparseIntegerGaussian> fit_sparse_integer_gaussian(
    double alpha, const CountHistogram& counts);

/// The same with alpha estimated: of the members with the mean and the variance of the data the one with the
/// largest likelihood. What fit_sparse_poisson says of its alpha holds here, for alpha above 0.36; standard
/// errors exist from alpha = 3/5 on.
[[nodiscard]] FENCHEL_EXPORT Fit<SparseIntegerGaussian> fit_sparse_integer_gaussian(
    const CountHistogram& counts);

}  // namespace fenchel
