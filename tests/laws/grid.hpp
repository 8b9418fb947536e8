#pragma once

#include <gtest/gtest.h>

#include <array>
#include <ostream>
#include <vector>

#include "support/grids.hpp"
#include "support/scores.hpp"

/// The rows over which the laws are held: alpha x length x scale x pattern.
namespace fenchel::testing {

/// Around one vector, one block, one page, and far past the caches.
inline constexpr std::array<std::size_t, 12> kLengths{1, 2, 3, 7, 16, 17, 100, 255, 256, 1000, 4097, 100'000};
inline constexpr std::array kScales{1e-30, 1e-3, 0.1, 1.0, 10.0, 1e3, 1e30};

struct Case {
  double alpha;
  std::size_t n;
  double scale;
  Pattern pattern;

  template <class Real>
  [[nodiscard]] std::vector<Real> scores() const {
    return make_scores<Real>(pattern, n, scale);
  }
  friend std::ostream& operator<<(std::ostream& out, const Case& c) {
    return out << "alpha = " << c.alpha << " (am1 = " << c.alpha - 1 << "), n = " << c.n << ", " << c.pattern
               << " x " << c.scale;
  }
};

/// Calls check(case) for every case of at most `longest` scores. Of the longest rows one in `thin` is taken,
/// a diagonal that still meets every alpha, every scale and every pattern.
template <class Check>
void for_each_case(std::size_t longest, std::size_t thin, const Check& check) {
  std::size_t diagonal = 0;
  for (const double alpha : kAlphas) {
    for (const double scale : kScales) {
      for (const Pattern pattern : kPatterns) {
        ++diagonal;
        for (const std::size_t n : kLengths) {
          const std::size_t every = n > 10'000 ? 4 * thin : n > 1000 ? thin : n > 250 ? 4 : 1;
          if (n > longest || diagonal % every != 0) continue;
          const Case c{alpha, n, scale, pattern};
          SCOPED_TRACE(::testing::Message() << c);
          check(c);
        }
      }
    }
  }
}

}  // namespace fenchel::testing
