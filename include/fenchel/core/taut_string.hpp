#pragma once

/// `taut_string`: the proximal map of total variation on a chain, exactly and in linear time.

#include <span>
#include <vector>

#include "fenchel/core/config.hpp"

namespace fenchel {

/// argmin_x (1/2) sum_i w_i (x_i - y_i)^2 + sum_k caps_k |x_{k+1} - x_k|, the proximal map of total variation
/// on a chain, exactly and in linear time; all w_i = 1 if there are none. Nodes of one plateau get the same
/// double. Throws std::invalid_argument unless there is a y and one cap fewer, and as many weights as y;
/// std::domain_error unless y is finite, the caps finite and not negative, the weights positive and finite.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> taut_string(std::span<const double> y,
                                                             std::span<const double> caps,
                                                             std::span<const double> weights = {});

}  // namespace fenchel
