#include "estimate/statistics/weight_table.hpp"

#include <algorithm>
#include <vector>

namespace fenchel::detail {

namespace {

/// Sums over keys in [first, first + sums.size()), into the table.
template <class Sum>
void add_sums(const std::vector<Sum>& sums, index_t first, double factor, WeightTable& table) {
  for (std::size_t k = 0; k < sums.size(); ++k) {
    if (sums[k] != Sum{}) table[first + static_cast<index_t>(k)] += DoubleDouble(sums[k]) * factor;
  }
}

}  // namespace

void add_weights(std::span<const index_t> keys, PerRow weights, WeightTable& table) {
  if (keys.empty()) return;
  const auto [least, most] = std::minmax_element(keys.begin(), keys.end());
  const index_t first = *least, range = *most - *least;
  const auto size = static_cast<std::size_t>(range) + 1;
  // A plain array where it takes no more than some sums for each key, else the tree.
  if (range / 16 > static_cast<index_t>(keys.size())) {
    for (std::size_t i = 0; i < keys.size(); ++i) table[keys[i]] += weights[static_cast<index_t>(i)];
  } else if (weights.per_row()) {
    std::vector<DoubleDouble> sums(size);
    for (std::size_t i = 0; i < keys.size(); ++i)
      sums[static_cast<std::size_t>(keys[i] - first)] += weights[static_cast<index_t>(i)];
    add_sums(sums, first, 1.0, table);
  } else {
    std::vector<double> counts(size);
    for (const index_t key : keys) ++counts[static_cast<std::size_t>(key - first)];
    add_sums(counts, first, weights[0], table);
  }
}

}  // namespace fenchel::detail
