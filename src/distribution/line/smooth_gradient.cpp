#include <algorithm>
#include <cmath>

#include "distribution/line/piece_sum.hpp"
#include "distribution/line/smooth_forms.hpp"
#include "fenchel/core/infinity.hpp"
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

  /// int_0^v edge, and int_v^x centre.
  [[nodiscard]] double edge_integral(double v) const noexcept {
    const double square = decay * decay, far = decay == 0 ? 0 : std::exp(v - 2 / z);
    const double gone = -std::expm1(-v), first = gone - (v < kFar ? v * std::exp(-v) : 0);
    const double flat = -interior * z * (gone + (far - square)) / (1 + square);
    if (bend == 1) {
      const double sinh = by_x(far + std::exp(-v) * square - 2 * square) / (1 - square * square);
      return flat + sinh + (first - (far == 0 ? 0 : (v - 1) * far) - square) / (2 * (1 - square));
    }
    return flat + ((by_x(decay * level) + decay) / (1 + square) * gone + first / (1 + decay)) / 2;
  }
  [[nodiscard]] double centre_integral(double v) const noexcept {
    const double square = decay * decay, bias = (by_x(decay) - level * decay) / (1 + square);
    const auto integral = [&](double at) {
      return at < kFar ? std::exp(-at) / 2 * ((at + 2) / (1 + decay) - bias) : 0.0;
    };
    return integral(1 / z) - integral(v);
  }

  static constexpr double kFar = 700;  // exp(-700) is nothing
};

constexpr double kNarrow = 3;  // below this x dp/dlog gamma does not cancel

/// int_y^1 G over int_{-1}^1 G, for y = 1 - d >= 0.
double flat_tail(double z, double d, double integral_of_one) noexcept {
  const double x = 1 / z, y = 1 - d;
  if (x > 0.5) {
    const double sinh = std::expm1(-2 * x) - std::exp(-x * d) * std::expm1(-2 * x * y);
    return (d + z * sinh / (1 + std::exp(-2 * x))) / (2 * integral_of_one);
  }
  double sum = 0, power = y, term = 1;  // cosh x - cosh(x u) as a series in x u
  for (int k = 1; k <= 8; ++k) {
    power *= y * y;
    term *= x * x / ((2 * k - 1) * (2 * k));
    sum += term * (d - (1 - power) / (2 * k + 1));
  }
  return sum / std::cosh(x) / (2 * integral_of_one);
}

}  // namespace

SmoothShape::Gradient SmoothShape::expectation_gradient(FunctionRef<double(double)> psi, double mu,
                                                        double accuracy, std::span<const double> cuts) const {
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

double SmoothShape::gamma_derivative(double y) const noexcept {
  const double d = depth(y), z = form_.inverse, x = 1 / z, slope = langevin(x);
  if (d == 0) return 0;
  const double integral_of_one = slope / (slope + z);
  if (x < kNarrow) {
    const double flat = dirichlet_one(z, d, 1 - d) / (2 * half_width_ * integral_of_one);
    return ((1 + form_.bend) * density(y) / 2 - y * derivative(y) / 2 - (1 + form_.bend / 2) * flat) / gamma_;
  }
  const GammaLayers layers(form_, integral_of_one);
  double value = layers.interior;
  if (d * x < GammaLayers::kFar) value += layers.edge(d * x) * x;
  if (form_.bend == 0 && (1 - d) * x < GammaLayers::kFar) value += layers.centre((1 - d) * x) * x;
  return value / (2 * half_width_ * half_width_ * half_width_ * form_.mass);
}

double SmoothShape::beyond_gamma_derivative(double y) const noexcept {
  if (y < 0) return -beyond_gamma_derivative(-y);
  const double d = depth(y), z = form_.inverse, x = 1 / z, slope = langevin(x);
  if (d == 0 || y == 0) return 0;
  const double integral_of_one = slope / (slope + z);
  if (x < kNarrow) {
    return ((1 + form_.bend / 2) * (beyond(y) - flat_tail(z, d, integral_of_one)) + y * density(y) / 2) /
           gamma_;
  }
  const GammaLayers layers(form_, integral_of_one);
  double value = layers.interior * d + layers.edge_integral(d * x);
  if (form_.bend == 0) value += layers.centre_integral((1 - d) * x);
  return value / (2 * half_width_ * half_width_ * form_.mass);
}

double SmoothShape::half_width_scale_derivative() const noexcept {
  // p and p' vanish at the edge, which so moves by -U' / p'' there.
  return half_width_ * form_.mass / (langevin(1 / form_.inverse) * form_.slope);
}

double SmoothShape::half_width_gamma_derivative() const noexcept {
  if (gamma_ == 0) return kInfinity;
  return (half_width_ - (2 + form_.bend) * half_width_scale_derivative()) / (2 * gamma_);
}

}  // namespace fenchel::detail
