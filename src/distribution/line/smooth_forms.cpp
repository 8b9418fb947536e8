#include "distribution/line/smooth_forms.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>

namespace fenchel::detail {
namespace {

/// m! / v^m times the rest of the series of cosh v (m even) or sinh v (m odd) from v^m / m! on.
double rest_of_series(int m, double v) noexcept {
  double sum = 1, term = 1;
  for (double k = m; term > sum * std::numeric_limits<double>::epsilon() / 8; k += 2)
    sum += term *= v * v / ((k + 1) * (k + 2));
  return sum;
}

/// exp(-(x - v)) at v = d / z.
double far_factor(const SmoothForm& form, double d) noexcept {
  return form.inverse > 0 ? std::exp((d - 1) / form.inverse) : 0;
}

}  // namespace

double langevin(double x) noexcept {
  constexpr double kCancels = 2;
  if (x >= kCancels) return 1 / std::tanh(x) - 1 / x;
  constexpr int kDepth = 12;  // exact to rounding below 2
  double fraction = 0;
  for (int k = kDepth; k > 0; --k) fraction = x * x / (2 * k + 1 + fraction);
  return fraction / x;
}

SmoothForm smooth_form(double bend, double inverse) {
  const double x = 1 / inverse, decay = std::exp(-x);
  const double slope = bend == 1 ? langevin(x) : std::tanh(x / 2);
  const double echo = bend == 1 ? -decay / std::expm1(-2 * x) : -1 / (1 + decay);
  SmoothForm form = {bend, inverse, slope, slope + bend * inverse, echo, 0};
  form.mass = edge_form(form, 1, 1);
  return form;
}

double edge_form(const SmoothForm& form, int n, double d) noexcept {
  if (!(d > 0)) return d;
  const double z = form.inverse, v = d / z, scale = (n + 1.) * (n + 2.);
  if (v <= n + 2) {
    return d * v / scale *
           (form.slope * rest_of_series(n + 2, v) - v * rest_of_series(n + 3, v) / (n + 3) +
            form.bend * d * v * rest_of_series(n + 4, v) / ((n + 3.) * (n + 4.)));
  }
  double rest = -form.level, factor = 1;
  for (int i = 1; i <= n; ++i) {
    factor *= (n - i + 1) / v;
    rest += i % 2 == 1 ? factor : -form.level * factor;
  }
  const double near = (form.level + 1) / 2 * std::exp(-v);
  rest += factor * (form.echo * far_factor(form, d) + (n % 2 == 1 ? -near : near));
  return d / (n + 1) - form.bend * d * d / scale + z * rest;
}

double edge_slope(const SmoothForm& form, double d) noexcept {
  if (!(d > 0)) return d;
  const double v = d / form.inverse;
  if (v <= 2) {
    return v * (form.slope * rest_of_series(1, v) - v / 2 * rest_of_series(2, v) +
                form.bend * d * v / 6 * rest_of_series(3, v));
  }
  return 1 - form.bend * d + form.echo * far_factor(form, d) - (form.level + 1) / 2 * std::exp(-v);
}

double relative_moment(const SmoothForm& form, int n) noexcept {
  return edge_form(form, n + 1, 1) / (n + 1) / form.mass;
}

namespace {

constexpr double kWide = 8;  // from this x on the closed forms below do not cancel

template <class F>
double unit_integral(F f) noexcept {
  return boost::math::quadrature::gauss<double, 30>::integrate([&](double r) { return f((1 + r) / 2); }) / 2;
}

/// 1 / (2 sinh^2 x).
double half_inverse_square_sinh(double x) noexcept {
  return 2 * std::exp(-2 * x) / (std::expm1(-2 * x) * std::expm1(-2 * x));
}

}  // namespace

double square_of_form(const SmoothForm& form) noexcept {
  const double z = form.inverse, c = form.level, x = 1 / z;
  if (x < kWide) {
    return unit_integral([&](double d) {
      const double value = edge_form(form, 0, d) / form.mass;
      return value * value;
    });
  }
  const double square = form.mass * form.mass;
  if (form.bend == 1) {
    return (2. / 15 - 2 * z * (c / 3 - z * z * (c - z)) +
            z * z * (c * c - 1.5 * c * z + half_inverse_square_sinh(x))) /
           square;
  }
  return 1 + (1. / 12 - z * z * (2 - 5 * z * c + (1 - c) * (1 + c) / 2)) / square;
}

double square_of_slope(const SmoothForm& form) noexcept {
  const double z = form.inverse, c = form.level, x = 1 / z;
  if (x < kWide) {
    return unit_integral([&](double d) {
      const double slope = edge_slope(form, d) / form.mass;
      return slope * slope;
    });
  }
  const double square = form.mass * form.mass;
  if (form.bend == 1) {
    return (1. / 3 - 1.5 * z * c + 2 * z * z - half_inverse_square_sinh(x)) / square;
  }
  return (1 - 3 * z * c + (1 - c) * (1 + c) / 2) / square;
}

}  // namespace fenchel::detail
