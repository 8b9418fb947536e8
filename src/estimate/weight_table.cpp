#include "estimate/weight_table.hpp"

#include <algorithm>
#include <vector>

namespace fenchel::detail {

void add_weights(std::span<const index_t> keys, std::span<const double> weights, WeightTable& table) {
  if (keys.empty()) return;
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  const index_t first = *least, range = *most - *least;
  // A plain array where it takes no more than some sums for each key, else the tree.
  if (range / 16 > static_cast<index_t>(keys.size())) {
    for (std::size_t i = 0; i < keys.size(); ++i) table[keys[i]] += weights[i];
    return;
  }
  std::vector<DoubleDouble> sums(static_cast<std::size_t>(range + 1));
  for (std::size_t i = 0; i < keys.size(); ++i) sums[static_cast<std::size_t>(keys[i] - first)] += weights[i];
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (sums[k].high > 0) table[first + static_cast<index_t>(k)] += sums[k];
  }
}

}  // namespace fenchel::detail
