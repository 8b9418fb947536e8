#pragma once

#include <algorithm>
#include <cstddef>
#include <vector>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"

namespace fenchel::detail {

/// P(X <= k) and P(X > k) for the integers k that have all but 1e-17 of the mass on either side, or 2^16 of
/// them above and below the median, each a sum from its own end.
struct CountWindow {
  index_t first;
  std::vector<double> below, above;

  explicit CountWindow(const IntegerTable& p) {
    constexpr index_t kMost = index_t{1} << 16;
    constexpr double kTail = 1e-17;
    const index_t middle = median(p);
    first = std::max(quantile(p, kTail), middle - kMost);
    const index_t last = std::min(survival_quantile(p, kTail), middle + kMost);
    const auto size = static_cast<std::size_t>(last - first + 1);
    below.resize(size);
    above.resize(size);
    std::vector<double> probabilities(size);
    double sum = cdf(p, first - 1);
    for (std::size_t i = 0; i < size; ++i) {
      const index_t k = first + static_cast<index_t>(i);
      checkpoint_at(k - first);
      below[i] = sum += probabilities[i] = pmf(p, k);
    }
    sum = survival(p, last);
    for (std::size_t i = size; i > 0; --i) {
      above[i - 1] = sum;
      sum += probabilities[i - 1];
    }
  }
};

}  // namespace fenchel::detail
