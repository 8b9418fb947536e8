#pragma once

/// `fit_sparse_poisson`: by the mean.

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"

namespace fenchel {

/// The SparsePoisson whose mean is that of the counts: the minimum of a loss that is convex in log mu
/// (docs/math.md E2). mean < mu <= mean + 1, and mu is the mean at alpha = 1. For alpha > 1 + 2 / log(1 +
/// 1/k) all mu about sqrt(k (k + 1)) predict k for certain: for such a mean mu is that root, without a
/// standard error. mu is exact to rounding, and so is the fitted mean unless alpha is so large (5) that it is
/// steep in mu.
///
/// Throws std::domain_error unless 1 <= alpha < infinity, no count is negative and their mean is positive:
/// all mu up to e^{-1 / (alpha - 1)} predict 0 for certain.
[[nodiscard]] FENCHEL_EXPORT Fit<SparsePoisson> fit_sparse_poisson(double alpha,
                                                                   const CountHistogram& counts);

}  // namespace fenchel
