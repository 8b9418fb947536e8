#include <algorithm>
#include <cmath>

#include "distribution/line/piece_sum.hpp"
#include "distribution/line/smooth_forms.hpp"
#include "fenchel/distribution/line/smooth_density.hpp"

/// Derivatives of E[psi]: docs/math.md 6.2's JVP in closed form. With G = 1 - cosh(x y) / cosh x, y = 1 - d,
/// and U = G / int G: dp/dmu = -p', dp/dlog scale = -p + U, dp/dlog gamma = (1 + bend) p/2 - y p'/2 - (1 +
/// bend/2) U.
namespace fenchel::detail {
namespace {

/// Adds int_0^1 weight(d, 1 - d) psi, on one side of mu, where either argument is exact next to its 0.
template <class Weight>
void add_half(PieceSum& sum, double side, double width, Weight weight) {
  sum.add(side * width, -side * width / 2, [&](double z) { return weight(z / 2, 1 - z / 2) / 2; });
  sum.add(0, side * width / 2, [&](double z) { return weight(1 - z / 2, z / 2) / 2; });
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

  GammaLayers(const SmoothForm& form, double integral_of_one) noexcept
      : z(form.inverse), decay(std::exp(-1 / z)), bend(form.bend), level(form.level) {
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
    const double square = decay * decay;
    return std::exp(-v) / 2 * ((by_x(decay) - level * decay) / (1 + square) - (v + 1) / (1 + decay));
  }
};

}  // namespace

SmoothShape::Gradient SmoothShape::expectation_gradient(FunctionRef<double(double)> psi, double mu,
                                                        double accuracy, std::span<const double> cuts) const {
  constexpr double kNarrow = 3;     // below this x dp/dlog gamma does not cancel
  constexpr double kLayerEnd = 60;  // exp(-60) is nothing
  const double z = form_.inverse, width = half_width_, x = 1 / z;
  // int_0^1 G = 1 - tanh(x) / x
  const double slope = langevin(x), integral_of_one = slope / (slope + z);
  const double layer = std::min(x, kLayerEnd), cut = std::min(1., layer / 2);
  PieceSum left(psi, mu, accuracy, cuts), right = left, mean = left, flat = left, in_gamma = left;
  for (const double side : {-1.0, 1.0}) {
    const auto fall = [this](double d, double) { return edge_slope(form_, d); };
    add_half(side < 0 ? left : right, side, width, fall);
    add_half(mean, side, width, [this](double d, double) { return edge_form(form_, 0, d); });
    add_half(flat, side, width, [z](double d, double y) { return dirichlet_one(z, d, y); });
    if (x < kNarrow) {
      add_half(in_gamma, side, width, [&fall](double d, double y) { return y * fall(d, y); });
      continue;
    }
    const GammaLayers layers(form_, integral_of_one);
    add_half(in_gamma, side, width, [&layers](double, double) { return layers.interior; });
    for (const Interval& part : {Interval(0, cut), Interval(cut, layer)}) {
      const double from = part.lower(), length = part.upper() - from;
      in_gamma.add(side * width * (1 - z * from), -side * width * z * length,
                   [&](double v) { return length * layers.edge(from + length * v); });
      if (form_.bend == 1) continue;  // no layer about the centre
      in_gamma.add(side * width * z * from, side * width * z * length,
                   [&](double v) { return length * layers.centre(from + length * v); });
    }
  }
  const double mass = 2 * form_.mass, mean_psi = mean.value() / mass;
  const double mean_flat = flat.value() / (2 * integral_of_one);
  double gamma = in_gamma.value() / mass / width / width;
  if (x < kNarrow) {
    const double log_gamma =
        (1 + form_.bend) / 2 * mean_psi + in_gamma.value() / (2 * mass) - (1 + form_.bend / 2) * mean_flat;
    gamma = log_gamma / (z * width) / (z * width);
  }
  return {(right.value() - left.value()) / mass / width, (mean_flat - mean_psi) / scale_, gamma};
}

}  // namespace fenchel::detail
