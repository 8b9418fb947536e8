#pragma once

#include <functional>
#include <vector>

#include "fenchel/core/normalizer.hpp"
#include "fenchel/distribution/integers/integer_prediction.hpp"
#include "fenchel/distribution/integers/integer_tail.hpp"

namespace fenchel::detail {

/// The prediction for alpha < 1, whose probabilities fall like a power of the score.
[[nodiscard]] IntegerPrediction predict_heavy(double am1, const IntegerScore& score);

/// Turns the scores of a window, less their maximum, into probabilities whose sum is one together with tails,
/// for alpha <= 1. `relative` gives the score at a signed distance from the mode, `tail_of` a tail on one
/// side given A - f(mode); `tails` holds those for some A, and in the end for the right one.
[[nodiscard]] FENCHEL_EXPORT Normalization
normalize_with_tails(double am1, std::vector<double>& window, const std::function<double(double)>& relative,
                     std::vector<IntegerTail>& tails, const std::function<IntegerTail(int, double)>& tail_of);

}  // namespace fenchel::detail
