#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <ostream>
#include <random>
#include <vector>

#include "fenchel/core/infinity.hpp"

/// Rows of scores of every shape that a kernel may treat in its own way.
namespace fenchel::testing {

enum class Pattern { normal, ascending, descending, ties, equal, spike, geometric, clusters, masked };

inline constexpr std::array kPatterns{Pattern::normal,    Pattern::ascending, Pattern::descending,
                                      Pattern::ties,      Pattern::equal,     Pattern::spike,
                                      Pattern::geometric, Pattern::clusters,  Pattern::masked};

inline std::ostream& operator<<(std::ostream& out, Pattern pattern) {
  constexpr std::array kNames{"normal", "ascending", "descending", "ties",  "equal",
                              "spike",  "geometric", "clusters",   "masked"};
  return out << kNames[static_cast<std::size_t>(pattern)];
}

/// One score of a row, before it is scaled; `x` is a standard normal number. The geometric row comes to the
/// sparsemax threshold of its own maximum, -1, as near as its length allows; the clusters lie on both sides
/// of it.
inline double pattern_score(Pattern pattern, std::size_t i, std::size_t n, double x) {
  switch (pattern) {
    case Pattern::ties:
      return std::round(x);
    case Pattern::equal:
      return 0.75;
    case Pattern::spike:
      return i == n / 3 ? 50 : x;
    case Pattern::geometric:
      return std::pow(1 - 8 / (8 + static_cast<double>(n)), static_cast<double>(i)) - 1;
    case Pattern::clusters:
      return i == n / 2 ? 0 : (i % 2 == 0 ? -1 + 1e-3 * x : -0.5 + 1e-9 * x);
    case Pattern::masked:
      return i % 3 == 0 && n > 1 ? -kInfinity : x;
    default:
      return x;
  }
}

template <class Real>
std::vector<Real> make_scores(Pattern pattern, std::size_t n, double scale, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::normal_distribution<double> normal;
  std::vector<Real> z(n);
  for (std::size_t i = 0; i < n; ++i)
    z[i] = static_cast<Real>(scale * pattern_score(pattern, i, n, normal(random)));
  if (pattern == Pattern::ascending) std::sort(z.begin(), z.end());
  if (pattern == Pattern::descending) std::sort(z.begin(), z.end(), std::greater<>());
  return z;
}

}  // namespace fenchel::testing
