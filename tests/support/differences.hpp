#pragma once

namespace fenchel::testing {

/// df/dx by differences at four points, with an error of h^4 and of f's own rounding over h.
template <class F>
double slope_of(F f, double x, double h) {
  return (8 * (f(x + h) - f(x - h)) - (f(x + 2 * h) - f(x - 2 * h))) / (12 * h);
}

}  // namespace fenchel::testing
