#include <algorithm>
#include <cmath>

#include "distribution/bounded_density.hpp"
#include "distribution/smooth_forms.hpp"

/// Derivatives of E[psi]: MATH.md 6.2's JVP in closed form. With G = 1 - cosh(x y) / cosh x, y = 1 - d, and U
/// = G / int G: dp/dmu = -p', dp/dlog scale = -p + U, dp/dlog gamma = (1 + bend) p/2 - y p'/2 - (1 + bend/2)
/// U.
namespace fenchel::detail {
namespace {

/// psi at both places at the same distance from mu, summed or subtracted.
struct BothSides {
  double mu;
  FunctionRef<double(double)> psi;
  [[nodiscard]] double sum(double y) const { return psi(mu + y) + psi(mu - y); }
  [[nodiscard]] double difference(double y) const { return psi(mu + y) - psi(mu - y); }
};

/// int_0^1 f(d, 1 - d), where either argument is exact next to its 0.
template <class F>
double integral_over_depth(F f) {
  const Interval half(0, 0.5);
  return bounded_integral([&](double d) { return f(d, 1 - d); }, half, 0.25) +
         bounded_integral([&](double y) { return f(1 - y, y); }, half, 0.25);
}

/// 1 - cosh(x y) / cosh x.
double dirichlet_one(double z, double d, double y) noexcept {
  if (!(d > 0)) return 0;
  return std::expm1(-d / z) * std::expm1(-(1 + y) / z) / (1 + std::exp(-2 / z));
}

/// dp/dgamma in units of 1 / (2 half_width^3 mass), without the cancellation of dp/dlog gamma at large x,
/// derived: interior G plus, for the parabola, x^2 sinh v / sinh 2x + (x v/2) sinh(x - v) / sinh x, v = d /
/// z; for the triangular density a layer about the centre as well. `interior` alone is taken out of the
/// layers, which are per unit of v (at the centre, of y / z): so gamma = 0 is no special case.
struct GammaLayers {
  double z, decay, interior;  // decay = exp(-x)
  double bend, level;

  GammaLayers(const SmoothShape& shape, double integral_of_one) noexcept
      : z(shape.inverse), decay(std::exp(-1 / z)), bend(shape.bend), level(shape.level) {
    const double fourth = decay * decay * decay * decay;
    if (bend == 1) {
      interior = (by_x(4 * decay * decay / (1 - fourth)) - 1) / (2 * integral_of_one);
    } else {
      const double tanh = std::tanh(1 / z);
      interior = (level * tanh - by_x(level * (1 - level) * (1 + level) / (1 + level * level))) /
                 (2 * integral_of_one);
    }
  }

  /// x times something that vanishes exponentially with x, also at infinity.
  [[nodiscard]] double by_x(double small) const noexcept { return small == 0 ? 0 : small / z; }

  [[nodiscard]] double edge(double v) const noexcept {
    const double square = decay * decay, near = std::exp(-v), far = decay == 0 ? 0 : std::exp(v - 2 / z);
    const double flat = -interior * z * (near + far) / (1 + square);
    if (bend == 1) {
      const double sinh_ratio = far * -std::expm1(-2 * v) / (1 - square * square);  // sinh v / sinh 2x
      return flat + by_x(sinh_ratio) + v / 2 * (near - far) / (1 - square);
    }
    return flat + near / 2 * ((by_x(decay * level) + decay) / (1 + square) + v / (1 + decay));
  }
  [[nodiscard]] double centre(double v) const noexcept {
    if (bend == 1) return 0;
    const double square = decay * decay;
    return std::exp(-v) / 2 * ((by_x(decay) - level * decay) / (1 + square) - (v + 1) / (1 + decay));
  }
};

}  // namespace

SmoothGradient smooth_expectation_gradient(const SmoothDensity& p, double mu,
                                           FunctionRef<double(double)> psi) {
  constexpr double kNarrow = 3;     // below this x dp/dlog gamma does not cancel
  constexpr double kLayerEnd = 60;  // exp(-60) is nothing
  const SmoothShape& shape = p.shape;
  const double z = shape.inverse, width = p.half_width, x = 1 / z;
  const BothSides both{mu, psi};
  // int_0^1 G = 1 - tanh(x) / x
  const double slope = langevin(x), integral_of_one = slope / (slope + z);
  const auto mean_of = [&](auto weight) {
    return integral_over_depth([&](double d, double y) { return weight(d, y) * both.sum(width * y); });
  };
  const double mean = mean_of([&](double d, double) { return edge_form(shape, 0, d); }) / (2 * shape.mass);
  const double flat =
      mean_of([&](double d, double y) { return dirichlet_one(z, d, y); }) / (2 * integral_of_one);
  const double pull = integral_over_depth(
      [&](double d, double y) { return edge_slope(shape, d) * both.difference(width * y); });
  SmoothGradient gradient = {pull / (2 * shape.mass) / width, flat - mean, 0};
  if (x < kNarrow) {
    const double stretch = mean_of([&](double d, double y) { return y * edge_slope(shape, d); });
    const double log_gamma =
        (1 + shape.bend) / 2 * mean + stretch / (4 * shape.mass) - (1 + shape.bend / 2) * flat;
    gradient.gamma = log_gamma / (z * width) / (z * width);
    return gradient;
  }
  const GammaLayers layers(shape, integral_of_one);
  const Interval layer(0, std::min(x, kLayerEnd));
  const double cut = std::min(1., layer.upper() / 2);
  const double elsewhere = layers.interior * mean_of([](double, double) { return 1.; });
  const double edge =
      bounded_integral([&](double v) { return layers.edge(v) * both.sum(width * (1 - z * v)); }, layer, cut);
  const double centre =
      bounded_integral([&](double v) { return layers.centre(v) * both.sum(width * z * v); }, layer, cut);
  gradient.gamma = (elsewhere + edge + centre) / (2 * shape.mass) / width / width;
  return gradient;
}

}  // namespace fenchel::detail
