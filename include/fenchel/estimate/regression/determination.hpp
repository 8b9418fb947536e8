#pragma once

/// `determination`: the coefficient of determination, and the one that the paper prints.

#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// How much of the variation predictions explain. The paper's table of its Section 9.2 has the arguments of
/// r2 swapped (docs/math.md 9): it divides by the variance of the predictions.
struct Determination {
  double r2;          ///< 1 - SSE / SS(truth), the coefficient of determination
  double r2_swapped;  ///< 1 - SSE / SS(prediction)
};

/// SSE is the weighted sum of (truth - prediction)^2, SS that of squares about the weighted mean; where an SS
/// is 0 the result is -infinity, or NaN when all predictions are right. Throws std::invalid_argument unless
/// both have as many values as each other and as the weights.
[[nodiscard]] FENCHEL_EXPORT Determination determination(std::span<const double> truth,
                                                         std::span<const double> prediction,
                                                         PerRow weights = 1.0);

}  // namespace fenchel
