#pragma once

#include <cmath>
#include <limits>
#include <numbers>

#include "core/beta_gaussian/jet.hpp"
#include "core/gamma_ratio_derivatives.hpp"
#include "core/hd_long.hpp"
#include "core/random/portable_variates.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/philox.hpp"

/// The functions of a beta-Gaussian that have closed forms, with their derivatives, for host and GPU.
namespace fenchel::detail {

using Function = BetaGaussianFunction;

inline constexpr double kInf = kInfinity;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A constant.
FENCHEL_HD inline Jet constant(double value) { return {value, {}, {}}; }

/// What each of the functions below begins with.
FENCHEL_HD_LONG inline BetaGaussianConstants constants_of(index_t n, double log_det, double alpha) {
  return beta_gaussian_constants(n, alpha - 1, log_det);
}

/// mean of e^{tx} over t in [0, 1].
FENCHEL_HD_LONG inline Jet exp_mean(const Jet& x) {
  return compose(exp_moment<0>(x.value), exp_moment<1>(x.value), exp_moment<2>(x.value), x);
}

/// Its logarithm, which is x + log_exp_mean(-x): of a negative x there is no overflow.
FENCHEL_HD_LONG inline Jet log_exp_mean(const Jet& x) {
  const double y = -std::abs(x.value), m = exp_moment<0>(y);
  const double first = exp_moment<1>(y) / m, second = exp_moment<2>(y) / m - first * first;
  if (x.value <= 0) return compose(std::log(m), first, second, x);
  return compose(x.value + std::log(m), 1 - first, second, x);
}

/// The second derivative in alpha of log exp_{2-alpha}(u) = u g(y), g(y) = log1p(y) / y and y = am1 u > -1:
/// u^3 g''(y), by the series of g where its closed form cancels.
FENCHEL_HD_LONG inline double log_deformed_exp_alpha_curvature(double am1, double u) {
  constexpr double kSeries = 0.25;
  constexpr int kTerms = 32;
  const double y = am1 * u, room = 1 + y;
  if (std::abs(y) > kSeries) return (2 * std::log1p(y) - y * (2 + 3 * y) / (room * room)) / (am1 * am1 * am1);
  double second = 0, power = 1;
  for (int k = 2; k < kTerms; ++k, power *= -y) second += power * k * (k - 1) / (k + 1);
  return second * u * u * u;
}

FENCHEL_HD_LONG inline Jet log_deformed_exp_jet(const Jet& am1, const Jet& u) {
  const double a = am1.value, v = u.value, y = a * v, room = 1 + y;
  const double second = log_deformed_exp_alpha_curvature(a, v);
  const double value = a == 0 ? v : std::log1p(y) / a;
  return compose({value, log_deformed_exp_alpha_derivative(a, v), 1 / room, second, -v / (room * room),
                  -a / (room * room)},
                 am1, u);
}

/// The constants of beta_gaussian.hpp as functions of the variables, for finite alpha.
struct ConstantJets {
  double n;
  Jet am1, log_peak, z, ratio_slope;

  FENCHEL_HD_LONG ConstantJets(index_t dimension, double log_det, double alpha)
      : n(static_cast<double>(dimension)), am1(variable(2, alpha - 1)) {
    const GammaRatioDerivatives d = log_gamma_ratio_derivatives(dimension, am1.value);
    const Jet ratio = compose(log_gamma_ratio(dimension, am1.value), d.first, d.second, am1);
    const Jet ell = 0.5 * (n * std::log(2 * std::numbers::pi) + variable(1, log_det)) - ratio;
    log_peak = -2 * ell / (2 + n * am1);
    z = am1 * log_peak;
    ratio_slope = compose(d.first, d.second, d.third, am1);
  }
  [[nodiscard]] FENCHEL_HD Jet normalizer() const { return -1 * log_peak * exp_mean(z); }
  [[nodiscard]] FENCHEL_HD Jet log_variance() const { return std::log(2) + z - log(2 + (n + 2) * am1); }
};

/// -log(uniform) variates e_j and the numbers c_j of sum_j e_j / (1 + c_j am1), for the seed's draw.
template <class Body>
FENCHEL_HD inline void for_each_exponential(index_t n, double seed, const Body& body) {
  const index_t pairs = (n + 1) / 2;
  Philox rng(static_cast<std::uint64_t>(seed));
  rng.discard(static_cast<std::uint64_t>(2 * pairs));
  for (index_t j = 0; j < pairs; ++j) {
    body(portable_exponential(rng()), static_cast<double>(j) + (n % 2 == 1 ? 0.5 : 1.0));
  }
}

/// q / radius2 ~ Beta(m, b) in R^2m, b = 1 + 1/am1, and 1 minus it is a product of U_j^{1/(b+j)}, j < m,
/// since Beta(b, 1) Beta(b+1, m-1) is Beta(b, m): q = 2 e^z (1 - e^{-am1 E}) / am1, E = sum_j e_j / (1 +
/// (1+j) am1). R^{2m-1} is R^2m without a coordinate, with 1/2 in place of 1. All of it holds for alpha < 1
/// (docs/math.md 4).
FENCHEL_HD_LONG inline Jet log_draw_jet(index_t n, double seed, const ConstantJets& c) {
  const double am1 = c.am1.value;
  double sum = 0, first = 0, second = 0;
  for_each_exponential(n, seed, [&](double e, double k) {
    const double room = 1 + k * am1, x = k / room;
    sum += e / room;
    first -= e / room * x;
    second += 2 * e / room * x * x;
  });
  const Jet energy = compose(sum, first, second, c.am1);
  return 0.5 * (std::log(2) + c.z + log(energy) + log_exp_mean(-1 * c.am1 * energy));
}

/// For infinite alpha.
FENCHEL_HD inline double log_uniform_draw(const BetaGaussianConstants& c, double seed) {
  double sum = 0;
  for_each_exponential(c.dimension, seed, [&](double e, double k) { sum += e / k; });
  return (std::log(c.radius2) + std::log(-std::expm1(-sum))) / 2;
}

/// What goes with e^{rate log det}, where alpha is infinite; of value offset + scale e^{...}.
FENCHEL_HD inline Jet exponential(double value, double scale, double rate) {
  Jet jet = constant(value);
  jet.gradient[1] = scale * rate;
  jet.hessian[3] = scale * rate * rate;
  return jet;
}

FENCHEL_HD_LONG inline Jet log_density_jet(index_t n, const Jet& q, double log_det, double alpha) {
  const BetaGaussianConstants c = constants_of(n, log_det, alpha);
  const double value = log_density(c, q.value);
  if (std::isinf(value) || std::isinf(alpha)) return constant(value);
  const ConstantJets jets(n, log_det, alpha);
  Jet jet = jets.log_peak + log_deformed_exp_jet(jets.am1, -0.5 * q * exp(-1 * jets.z));
  jet.value = value;
  return jet;
}

/// log p = l + log exp_{2-alpha}(c d), c = e^{-am1 l} (docs/math.md 2.2); at infinite alpha its limit.
FENCHEL_HD_LONG inline double below_peak(double d, double log_peak, double alpha) {
  if (d == 0) return log_peak;
  if (std::isinf(alpha)) return log_peak > 0 ? log_peak : std::copysign(kInf, d);
  return log_peak + log_deformed_exp(alpha - 1, std::exp((1 - alpha) * log_peak) * d);
}
FENCHEL_HD_LONG inline Jet below_peak_jet(double d, double log_peak, double alpha) {
  const double value = below_peak(d, log_peak, alpha);
  if (std::isinf(value)) return constant(value);
  const Jet l = variable(1, log_peak), am1 = variable(2, alpha - 1);
  Jet jet = std::isinf(alpha) ? l : l + log_deformed_exp_jet(am1, variable(0, d) * exp(-1 * am1 * l));
  jet.value = value;
  return jet;
}

/// The functions of Sigma and alpha alone, for finite alpha; cross_omega without q.
FENCHEL_HD_LONG inline Jet constant_jet(Function function, const ConstantJets& c) {
  switch (function) {
    case Function::entropy:
      return c.n / 2 + -1 * (c.log_peak + c.am1 * c.ratio_slope);
    case Function::cross_omega:
      return (c.normalizer() - c.n / 2 * c.am1 * exp(c.log_variance())) / (1 + c.am1);
    case Function::tsallis_entropy:
      return (c.normalizer() + c.n / 2 * exp(c.log_variance())) / (1 + c.am1);
    case Function::log_radius2:
      return std::log(2) + c.z - log(c.am1);
    default:
      return c.log_variance();
  }
}

/// The same for infinite alpha.
FENCHEL_HD inline Jet uniform_jet(Function function, const BetaGaussianConstants& c, double value) {
  const auto n = static_cast<double>(c.dimension);
  switch (function) {
    case Function::cross_omega:
      return exponential(value, -n * c.variance_factor / 2, -1 / n);
    case Function::log_radius2:
    case Function::log_variance:
    case Function::log_draw: {
      Jet jet = constant(value);
      jet.gradient[1] = (function == Function::log_draw ? -0.5 : -1) / n;
      return jet;
    }
    default:
      return constant(value);
  }
}

/// For alpha > 1; a constant below, where it is infinite.
FENCHEL_HD_LONG inline Jet log_radius2_jet(index_t n, double log_det, double alpha) {
  const BetaGaussianConstants c = constants_of(n, log_det, alpha);
  if (!(alpha > 1)) return constant(kInf);
  Jet jet = std::isinf(alpha) ? uniform_jet(Function::log_radius2, c, 0)
                              : constant_jet(Function::log_radius2, ConstantJets(n, log_det, alpha));
  jet.value = std::log(c.radius2);
  return jet;
}

}  // namespace fenchel::detail
