#pragma once

/// `weighted_quantile` and `weighted_median` of one column, exactly and in constant memory.

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// The least value of one column such that those up to it have the share u of all weight: exact, in four
/// passes over data of any size and in a few MB. Throws std::domain_error unless 0 <= u <= 1 and there is a
/// row of positive weight, and what collect throws. Sums of weights are compared as doubles.
[[nodiscard]] FENCHEL_EXPORT double weighted_quantile(const Data& data, double u);

/// weighted_quantile(data, 1/2): the lower median.
[[nodiscard]] FENCHEL_EXPORT double weighted_median(const Data& data);

}  // namespace fenchel
