#pragma once

/// `fit_sparse_poisson`: by the mean, and alpha by likelihood.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"

namespace fenchel {

/// The SparsePoisson whose mean is that of the counts: the minimum of a loss that is convex in log mu
/// (docs/math.md E2). mean < mu <= mean + 1 for alpha > 1, mu is the mean at alpha = 1 and below it smaller
/// than the mean. For alpha > 1 + 2 / log(1 + 1/k) all mu about sqrt(k (k + 1)) predict k for certain: for
/// such a mean mu is that root, without a standard error. mu is exact to rounding, and so is the fitted mean
/// unless alpha is so large (5) that it is steep in mu.
///
/// Below alpha = 2/3 there is no variance, and the standard error is infinite. Throws std::domain_error
/// unless 1/2 < alpha < infinity (for a mean score), no count is negative and their mean is positive: all mu
/// up to e^{-1 / (alpha - 1)} predict 0 for certain.
[[nodiscard]] FENCHEL_EXPORT Fit<SparsePoisson> fit_sparse_poisson(double alpha,
                                                                   const CountHistogram& counts);

/// The same with alpha estimated: of the members with the mean of the counts the one with the largest
/// likelihood, whose support has all counts. alpha < 1 where they vary more than Poisson's, and > 1 where
/// they vary less. Standard errors are those of large samples; from alpha = 3/2 on the least probabilities
/// dominate them, and they are a rough guide. Throws std::domain_error as above, and where the best alpha is
/// below 0.53 or above 20: the counts vary too much or too little.
[[nodiscard]] FENCHEL_EXPORT Fit<SparsePoisson> fit_sparse_poisson(const CountHistogram& counts);

}  // namespace fenchel
