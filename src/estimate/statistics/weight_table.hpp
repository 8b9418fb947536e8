#pragma once

#include <map>
#include <span>

#include "fenchel/core/double_double.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel::detail {

/// The weight of each key.
using WeightTable = std::map<index_t, DoubleDouble>;

/// Adds weights[i] > 0 to the weight of keys[i].
void add_weights(std::span<const index_t> keys, PerRow weights, WeightTable& table);

}  // namespace fenchel::detail
