#pragma once

/// `explained_deviance`: how much better a regression of counts is than one mean for all rows.

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/regression/count_regression.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// 1 - D(fit) / D(best constant mu). The deviance D is the sum, by weights, of twice the Fenchel-Young loss
/// of each row less the least that a prediction of mean y has (docs/math.md 3.5): at alpha = 1 Poisson's, so
/// that this is what generalised linear models call D^2. 1 for predictions that are right, 0 for the mean of
/// y, negative for worse ones; where all rows are equal 1 or 0, as they are predicted or not.
///
/// Columns: y, then the features. A y that is no whole number is a mean of counts. Throws
/// std::invalid_argument unless there is a feature for each coefficient; DataError for a y that is negative
/// or above 2^52; std::domain_error where the rows weigh nothing; Cancelled by data.progress.
[[nodiscard]] FENCHEL_EXPORT double explained_deviance(const CountRegressionFit& fit, const Data& data);

}  // namespace fenchel
