#pragma once

#include <cmath>

namespace fenchel::testing {

/// sum |q(t_{i+1}) - q(t_i)| over a fine grid.
template <class Q>
double variation_on_a_grid(const Q& q, double lower, double upper) {
  constexpr int kCells = 200000;
  double sum = 0, last = 0;
  for (int i = 0; i <= kCells; ++i) {
    const double next = pdf(q, lower + (upper - lower) * i / kCells);
    sum += std::abs(next - last);
    last = next;
  }
  return sum + last;
}

}  // namespace fenchel::testing
