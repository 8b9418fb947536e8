#pragma once

#include <algorithm>
#include <cmath>
#include <vector>

namespace fenchel::testing {

/// sup |empirical cdf - cdf| [A. Kolmogorov 1933].
template <class Cdf>
double kolmogorov_distance(std::vector<double> draws, Cdf cdf) {
  std::sort(draws.begin(), draws.end());
  const double n = static_cast<double>(draws.size());
  double distance = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double u = cdf(draws[i]), rank = static_cast<double>(i);
    distance = std::max({distance, u - rank / n, (rank + 1) / n - u});
  }
  return distance;
}

/// What the distance of n draws exceeds with probability 1e-5.
inline double kolmogorov_bound(double n) { return std::sqrt(-std::log(0.5e-5) / (2 * n)); }

}  // namespace fenchel::testing
