#pragma once

#include "fenchel/estimate/regression/regression.hpp"

namespace fenchel::cli {

/// Throws UsageError for options that no data could have.
void check(const RegressionOptions& options);

}  // namespace fenchel::cli
