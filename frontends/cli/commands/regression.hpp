#pragma once

#include "fenchel/estimate/regression/regression.hpp"

namespace fenchel::cli {

/// Throws UsageError for options that no data could have: they are tried on rows that all could fit.
void check(RegressionOptions options);

}  // namespace fenchel::cli
