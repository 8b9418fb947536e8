#include "distribution/smooth_forms.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <limits>

#include "distribution/bounded_density.hpp"
#include "fenchel/core/error.hpp"

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
double far_factor(const SmoothShape& shape, double d) noexcept {
  return shape.inverse > 0 ? std::exp((d - 1) / shape.inverse) : 0;
}

/// The tail at the distance d from the edge.
double edge_tail(const SmoothShape& shape, double d) noexcept {
  return d * edge_form(shape, 1, d) / (2 * shape.mass);
}

/// The distance from the edge, which is 0 outside the support.
double depth(const SmoothDensity& p, double y) noexcept {
  const double d = (p.half_width - y) / p.half_width;
  return d < 0 ? 0 : d;
}

/// Half widths without gamma and for gamma so large that x is small; the larger one is below the root, by
/// less than a factor 2.
double least_half_width(double bend, double gamma, double scale) noexcept {
  return bend == 1
             ? std::max(std::cbrt(1.5) * std::cbrt(scale),
                        std::pow(22.5, 0.2) * std::pow(scale, 0.2) * std::pow(gamma, 0.2))
             : std::max(std::sqrt(scale), std::pow(12, 0.25) * std::pow(scale, 0.25) * std::pow(gamma, 0.25));
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

SmoothShape smooth_shape(double bend, double inverse) {
  const double x = 1 / inverse, decay = std::exp(-x);
  const double slope = bend == 1 ? langevin(x) : std::tanh(x / 2);
  const double echo = bend == 1 ? -decay / std::expm1(-2 * x) : -1 / (1 + decay);
  SmoothShape shape = {bend, inverse, slope, slope + bend * inverse, echo, 0};
  shape.mass = edge_form(shape, 1, 1);
  return shape;
}

double edge_form(const SmoothShape& shape, int n, double d) noexcept {
  if (!(d > 0)) return d;
  const double z = shape.inverse, v = d / z, scale = (n + 1.) * (n + 2.);
  if (v <= n + 2) {
    return d * v / scale *
           (shape.slope * rest_of_series(n + 2, v) - v * rest_of_series(n + 3, v) / (n + 3) +
            shape.bend * d * v * rest_of_series(n + 4, v) / ((n + 3.) * (n + 4.)));
  }
  double rest = -shape.level, factor = 1;
  for (int i = 1; i <= n; ++i) {
    factor *= (n - i + 1) / v;
    rest += i % 2 == 1 ? factor : -shape.level * factor;
  }
  const double near = (shape.level + 1) / 2 * std::exp(-v);
  rest += factor * (shape.echo * far_factor(shape, d) + (n % 2 == 1 ? -near : near));
  return d / (n + 1) - shape.bend * d * d / scale + z * rest;
}

double edge_slope(const SmoothShape& shape, double d) noexcept {
  if (!(d > 0)) return d;
  const double v = d / shape.inverse;
  if (v <= 2) {
    return v * (shape.slope * rest_of_series(1, v) - v / 2 * rest_of_series(2, v) +
                shape.bend * d * v / 6 * rest_of_series(3, v));
  }
  return 1 - shape.bend * d + shape.echo * far_factor(shape, d) - (shape.level + 1) / 2 * std::exp(-v);
}

double smooth_half_width(double bend, double gamma, double scale) {
  const double least = least_half_width(bend, gamma, scale), root = std::sqrt(gamma);
  const auto excess = [&](double ratio) {
    const double width = least * ratio, unit = 2 * width / scale * (bend == 1 ? width : 1);
    const SmoothShape shape = smooth_shape(bend, root / width);
    const double square = shape.slope * shape.slope;
    return ValueAndSlope{unit * width * shape.mass - 1,
                         unit * least * (bend == 1 ? square : shape.mass + square / 2)};
  };
  return least * increasing_root(excess, 0.5, 2, 1);  // 0.5: `least` is rounded
}

double smooth_scale_of_variance(double bend, double gamma, double variance) {
  const double root = std::sqrt(gamma), deviation = std::sqrt(variance);
  const auto excess = [&](double width) {  // in units of the deviation; the slope is that at a fixed shape
    const double value = width * width * relative_moment(smooth_shape(bend, root / deviation / width), 2);
    return ValueAndSlope{value - 1, 2 * value / width};
  };
  const double least = std::sqrt(bend == 1 ? 5 : 6), most = std::sqrt(bend == 1 ? 7 : 7.5);
  const double width = deviation * increasing_root(excess, least, most, least);
  return 2 * smooth_shape(bend, root / width).mass * width * width * (bend == 1 ? width : 1);
}

double smooth_pdf(const SmoothDensity& p, double y) noexcept {
  return edge_form(p.shape, 0, depth(p, y)) / (2 * p.shape.mass) / p.half_width;
}

double smooth_fall(const SmoothDensity& p, double y) noexcept {
  return edge_slope(p.shape, depth(p, y)) / (2 * p.shape.mass) / p.half_width / p.half_width;
}

double smooth_survival(const SmoothDensity& p, double x) noexcept {
  const double tail = edge_tail(p.shape, depth(p, std::abs(x)));
  return x < 0 ? 1 - tail : tail;
}

double smooth_log_survival(const SmoothDensity& p, double x) noexcept {
  const double tail = edge_tail(p.shape, depth(p, std::abs(x)));
  return x < 0 ? std::log1p(-tail) : std::log(tail);
}

double smooth_tail_distance(const SmoothDensity& p, double u) {
  if (u == 0) return p.half_width;
  const SmoothShape& shape = p.shape;
  const auto excess = [&](double d) {
    return ValueAndSlope{edge_tail(shape, d) / u - 1, edge_form(shape, 0, d) / (2 * shape.mass) / u};
  };
  // below the root: F_1 <= d/2 and F_1 <= d^2 slope / (6 z)
  const double start =
      std::max(std::cbrt(12 * shape.mass * shape.inverse / shape.slope * u), std::sqrt(4 * shape.mass * u));
  return p.half_width * (1 - increasing_root(excess, std::min(start, 1.), 1, start));
}

double smooth_mean_deviation(const SmoothDensity& p, double x) noexcept {
  const double y = std::abs(x), d = depth(p, y);
  return y + p.half_width * d * d * edge_form(p.shape, 2, d) / (2 * p.shape.mass);
}

double relative_moment(const SmoothShape& shape, int n) noexcept {
  return edge_form(shape, n + 1, 1) / (n + 1) / shape.mass;
}

double smooth_central_moment(const SmoothDensity& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n % 2 == 1 ? 0 : relative_moment(p.shape, n) * std::pow(p.half_width, n);
}

double smooth_kurtosis(const SmoothShape& shape) noexcept {
  const double second = relative_moment(shape, 2);
  return relative_moment(shape, 4) / (second * second);
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

/// int_0^1 F_0^2 and int_0^1 F_0'^2, over mass^2.
double square_of_form(const SmoothShape& shape) noexcept {
  const double z = shape.inverse, c = shape.level, x = 1 / z;
  if (x < kWide) {
    return unit_integral([&](double d) {
      const double form = edge_form(shape, 0, d) / shape.mass;
      return form * form;
    });
  }
  const double square = shape.mass * shape.mass;
  if (shape.bend == 1) {
    return (2. / 15 - 2 * z * (c / 3 - z * z * (c - z)) +
            z * z * (c * c - 1.5 * c * z + half_inverse_square_sinh(x))) /
           square;
  }
  return 1 + (1. / 12 - z * z * (2 - 5 * z * c + (1 - c) * (1 + c) / 2)) / square;
}

double square_of_slope(const SmoothShape& shape) noexcept {
  const double z = shape.inverse, c = shape.level, x = 1 / z;
  if (x < kWide) {
    return unit_integral([&](double d) {
      const double slope = edge_slope(shape, d) / shape.mass;
      return slope * slope;
    });
  }
  const double square = shape.mass * shape.mass;
  if (shape.bend == 1) {
    return (1. / 3 - 1.5 * z * c + 2 * z * z - half_inverse_square_sinh(x)) / square;
  }
  return (1 - 3 * z * c + (1 - c) * (1 + c) / 2) / square;
}

}  // namespace

double smooth_mean_density(const SmoothDensity& p) noexcept {
  return square_of_form(p.shape) / (2 * p.half_width);
}

double smooth_roughness(const SmoothDensity& p) noexcept {
  return square_of_slope(p.shape) / (2 * p.half_width) / p.half_width / p.half_width;
}

}  // namespace fenchel::detail
