#pragma once

#include "fenchel/distribution/integers/integer_prediction.hpp"

namespace fenchel::detail {

/// The prediction for alpha < 1, whose probabilities fall like a power of the score.
[[nodiscard]] IntegerPrediction predict_heavy(double am1, const IntegerScore& score);

}  // namespace fenchel::detail
