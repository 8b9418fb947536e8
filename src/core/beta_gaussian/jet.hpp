#pragma once

#include <array>
#include <cmath>
#include <cstddef>

#include "fenchel/core/beta_gaussian_jet.hpp"

/// Arithmetic of numbers with their first and second derivatives: the chain and the product rule.
namespace fenchel::detail {

/// The variable number `i` at `value`.
FENCHEL_HD inline Jet variable(std::size_t i, double value) {
  Jet x{value, {}, {}};
  x.gradient[i] = 1;
  return x;
}

/// f(x, y) by the partial derivatives of f.
struct Partials {
  double value, x, y, xx, xy, yy;
};
FENCHEL_HD inline Jet compose(const Partials& f, const Jet& x, const Jet& y) {
  Jet result{f.value, {}, {}};
  for (std::size_t i = 0, k = 0; i < 3; ++i) {
    const double xi = x.gradient[i], yi = y.gradient[i];
    result.gradient[i] = f.x * xi + f.y * yi;
    for (std::size_t j = i; j < 3; ++j, ++k) {
      const double xj = x.gradient[j], yj = y.gradient[j];
      result.hessian[k] = f.x * x.hessian[k] + f.y * y.hessian[k] + f.xx * xi * xj +
                          f.xy * (xi * yj + xj * yi) + f.yy * yi * yj;
    }
  }
  return result;
}

/// f(x) by its derivatives.
FENCHEL_HD inline Jet compose(double value, double first, double second, const Jet& x) {
  return compose({value, first, 0, second, 0, 0}, x, Jet{});
}

FENCHEL_HD inline Jet operator+(const Jet& x, const Jet& y) {
  return compose({x.value + y.value, 1, 1, 0, 0, 0}, x, y);
}
FENCHEL_HD inline Jet operator-(const Jet& x, const Jet& y) {
  return compose({x.value - y.value, 1, -1, 0, 0, 0}, x, y);
}
FENCHEL_HD inline Jet operator*(const Jet& x, const Jet& y) {
  return compose({x.value * y.value, y.value, x.value, 0, 1, 0}, x, y);
}
FENCHEL_HD inline Jet operator+(double c, const Jet& x) { return compose(c + x.value, 1, 0, x); }
FENCHEL_HD inline Jet operator*(double c, const Jet& x) { return compose(c * x.value, c, 0, x); }
FENCHEL_HD inline Jet operator/(const Jet& x, const Jet& y) {
  const double r = 1 / y.value;
  return x * compose(r, -r * r, 2 * r * r * r, y);
}
FENCHEL_HD inline Jet exp(const Jet& x) {
  const double e = std::exp(x.value);
  return compose(e, e, e, x);
}
FENCHEL_HD inline Jet log(const Jet& x) {
  const double r = 1 / x.value;
  return compose(std::log(x.value), r, -r * r, x);
}

}  // namespace fenchel::detail
