#include "fenchel/core/beta_gaussian_jet.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "core/jet.hpp"
#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/beta_gaussian_conjugate.hpp"
#include "fenchel/core/beta_gaussian_radius.hpp"
#include "fenchel/core/beta_gaussian_tail.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/gamma_ratio_derivatives.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/core/variates.hpp"

namespace fenchel {
namespace {

using detail::compose, detail::exp, detail::log, detail::variable;
using detail::operator+, detail::operator-, detail::operator*, detail::operator/;
using Function = BetaGaussianFunction;

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// A constant.
Jet constant(double value) { return {value, {}, {}}; }

/// mean of e^{tx} over t in [0, 1].
Jet exp_mean(const Jet& x) {
  return compose(exp_moment<0>(x.value), exp_moment<1>(x.value), exp_moment<2>(x.value), x);
}

/// Its logarithm, which is x + log_exp_mean(-x): of a negative x there is no overflow.
Jet log_exp_mean(const Jet& x) {
  const double y = -std::abs(x.value), m = exp_moment<0>(y);
  const double first = exp_moment<1>(y) / m, second = exp_moment<2>(y) / m - first * first;
  if (x.value <= 0) return compose(std::log(m), first, second, x);
  return compose(x.value + std::log(m), 1 - first, second, x);
}

/// log exp_{2-alpha}(u) = u g(y) with g(y) = log1p(y) / y and y = am1 u > -1. The second derivative in alpha
/// is u^3 g''(y), by the series of g where its closed form cancels.
Jet log_deformed_exp_jet(const Jet& am1, const Jet& u) {
  constexpr double kSeries = 0.25;
  constexpr int kTerms = 32;
  const double a = am1.value, v = u.value, y = a * v, room = 1 + y;
  double second = 0;
  if (std::abs(y) <= kSeries) {
    double power = 1;
    for (int k = 2; k < kTerms; ++k, power *= -y) second += power * k * (k - 1) / (k + 1);
    second *= v * v * v;
  } else {
    second = (2 * std::log1p(y) - y * (2 + 3 * y) / (room * room)) / (a * a * a);
  }
  const double value = a == 0 ? v : std::log1p(y) / a;
  return compose({value, log_deformed_exp_alpha_derivative(a, v), 1 / room, second, -v / (room * room),
                  -a / (room * room)},
                 am1, u);
}

/// The constants of beta_gaussian.hpp as functions of the variables, for finite alpha.
struct ConstantJets {
  double n;
  Jet am1, log_peak, z, ratio_slope;

  ConstantJets(index_t dimension, double log_det, double alpha)
      : n(static_cast<double>(dimension)), am1(variable(2, alpha - 1)) {
    const GammaRatioDerivatives d = log_gamma_ratio_derivatives(dimension, am1.value);
    const Jet ratio = compose(log_gamma_ratio(dimension, am1.value), d.first, d.second, am1);
    const Jet ell = 0.5 * (n * std::log(2 * std::numbers::pi) + variable(1, log_det)) - ratio;
    log_peak = -2 * ell / (2 + n * am1);
    z = am1 * log_peak;
    ratio_slope = compose(d.first, d.second, d.third, am1);
  }
  [[nodiscard]] Jet normalizer() const { return -1 * log_peak * exp_mean(z); }
  [[nodiscard]] Jet log_variance() const { return std::log(2) + z - log(2 + (n + 2) * am1); }
};

/// -log(uniform) variates e_j and the numbers c_j of sum_j e_j / (1 + c_j am1), for the seed's draw.
template <class Body>
void for_each_exponential(index_t n, double seed, const Body& body) {
  const index_t pairs = (n + 1) / 2;
  Philox rng(static_cast<std::uint64_t>(seed));
  rng.discard(static_cast<std::uint64_t>(2 * pairs));
  for (index_t j = 0; j < pairs; ++j) {
    body(standard_exponential(rng), static_cast<double>(j) + (n % 2 == 1 ? 0.5 : 1.0));
  }
}

/// q / radius2 ~ Beta(m, b) in R^2m, b = 1 + 1/am1, and 1 minus it is a product of U_j^{1/(b+j)}, j < m,
/// since Beta(b, 1) Beta(b+1, m-1) is Beta(b, m): q = 2 e^z (1 - e^{-am1 E}) / am1, E = sum_j e_j / (1 +
/// (1+j) am1). R^{2m-1} is R^2m without a coordinate, with 1/2 in place of 1. All of it holds for alpha < 1
/// (MATH.md 4).
Jet log_draw_jet(index_t n, double seed, const ConstantJets& c) {
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
double log_uniform_draw(const BetaGaussianConstants& c, double seed) {
  double sum = 0;
  for_each_exponential(c.dimension, seed, [&](double e, double k) { sum += e / k; });
  return (std::log(c.radius2) + std::log(-std::expm1(-sum))) / 2;
}

double quantile_value(const BetaGaussianConstants& c, double log_sigma, double u) {
  if (!(u >= 0 && u <= 1)) return kNaN;
  return u <= 0.5 ? -upper_tail_quantile(c, log_sigma, u) : upper_tail_quantile(c, log_sigma, 1 - u);
}

double cdf_value(const BetaGaussianConstants& c, double log_sigma, double x) {
  if (std::isnan(x)) return x;
  return x <= 0 ? upper_tail(c, log_sigma, -x) : 1 - upper_tail(c, log_sigma, x);
}

/// What goes with e^{rate log det}, where alpha is infinite; of value offset + scale e^{...}.
Jet exponential(double value, double scale, double rate) {
  Jet jet = constant(value);
  jet.gradient[1] = scale * rate;
  jet.hessian[3] = scale * rate * rate;
  return jet;
}

Jet log_density_jet(index_t n, const Jet& q, double log_det, double alpha) {
  const BetaGaussianConstants c = beta_gaussian_constants(n, alpha - 1, log_det);
  const double value = log_density(c, q.value);
  if (std::isinf(value) || std::isinf(alpha)) return constant(value);
  const ConstantJets jets(n, log_det, alpha);
  Jet jet = jets.log_peak + log_deformed_exp_jet(jets.am1, -0.5 * q * exp(-1 * jets.z));
  jet.value = value;
  return jet;
}

/// F(x): the density p of x is dF/dx, log det moves x by determinant_exponent, and alpha by
/// log_radius_alpha_slope.
struct LineJets {
  Jet log_p;  ///< log p at x
  double p;
  double c, c_slope;    ///< -d log x^2 / dlog_det at a fixed probability, and its derivative in alpha
  double alpha_motion;  ///< dx/dalpha at a fixed probability

  LineJets(double x, double log_det, double alpha, bool in_alpha)
      : log_p(log_density_jet(1, variable(0, x) * variable(0, x), log_det, alpha) +
              0.5 * variable(1, log_det)),
        p(std::exp(log_p.value)) {
    const BetaGaussianConstants constants = beta_gaussian_constants(1, alpha - 1, log_det);
    const double width = 2 + constants.am1;
    c = determinant_exponent(constants);
    c_slope = 2 / (width * width);
    alpha_motion = in_alpha ? x * log_radius_alpha_slope(constants, x * x) : kNaN;
  }
};

Jet cdf_jet(double x, double log_det, double alpha, bool in_alpha) {
  const LineJets at(x, log_det, alpha, in_alpha);
  if (at.p == 0) return constant(0);
  const std::array<double, 3> l = at.log_p.gradient;
  const double p = at.p, move = p * x * at.c / 2;
  return {0,
          {p, move, -p * at.alpha_motion},
          {p * l[0], p * l[1], p * l[2], move * l[1], move * l[2] + p * x * at.c_slope / 2, kNaN}};
}

Jet quantile_jet(double x, double log_det, double alpha, bool in_alpha) {
  const LineJets at(x, log_det, alpha, in_alpha);
  if (at.p == 0) {  // an end of the support
    const Jet radius = exp(0.5 * beta_gaussian_jet(Function::log_radius2, 1, 0, log_det, alpha));
    Jet jet = std::isinf(x) ? constant(x) : std::copysign(1.0, x) * radius;
    jet.gradient[0] = kInf;
    return jet;
  }
  const std::array<double, 3> l = at.log_p.gradient;
  const double stretch = 1 / at.p, half = at.c / 2, motion = at.alpha_motion;
  return {0,
          {stretch, -half * x, motion},
          {-l[0] * stretch * stretch, -half * stretch, -stretch * (l[0] * motion + l[2]), half * half * x,
           -at.c_slope / 2 * x - half * motion, kNaN}};
}

/// The functions of Sigma and alpha alone, for finite alpha; cross_omega without q.
Jet constant_jet(BetaGaussianFunction function, const ConstantJets& c) {
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
Jet uniform_jet(BetaGaussianFunction function, const BetaGaussianConstants& c, double value) {
  const double n = static_cast<double>(c.dimension);
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

}  // namespace

BetaGaussianFunction beta_gaussian_function(std::string_view name) {
  constexpr std::string_view kNames[] = {"log_density",     "cross_omega",  "entropy",
                                         "tsallis_entropy", "log_variance", "log_radius2",
                                         "log_draw",        "cdf",          "quantile"};
  const auto* found = std::find(std::begin(kNames), std::end(kNames), name);
  if (found == std::end(kNames))
    throw_invalid_argument("beta_gaussian", "function", "must be one of them", name);
  return static_cast<BetaGaussianFunction>(found - std::begin(kNames));
}

double beta_gaussian_value(BetaGaussianFunction function, index_t n, double argument, double log_det,
                           double alpha) {
  const BetaGaussianConstants c = beta_gaussian_constants(n, alpha - 1, log_det);
  switch (function) {
    case Function::log_density:
      return log_density(c, argument);
    case Function::cross_omega:
      return conjugate(c) + argument / 2;
    case Function::entropy:
      return -tsallis_negentropy(c, 1);
    case Function::tsallis_entropy:
      return std::isinf(c.variance_factor) ? kInf : std::isinf(alpha) ? 0 : -tsallis_negentropy(c, alpha);
    case Function::log_variance:
      return std::log(c.variance_factor);
    case Function::log_radius2:
      return alpha > 1 ? std::log(c.radius2) : kInf;
    case Function::log_draw:
      return std::isinf(alpha) ? log_uniform_draw(c, argument)
                               : log_draw_jet(n, argument, ConstantJets(n, log_det, alpha)).value;
    case Function::cdf:
      return cdf_value(c, log_det / 2, argument);
    case Function::quantile:
      return quantile_value(c, log_det / 2, argument);
  }
  return kNaN;
}

Jet beta_gaussian_jet(BetaGaussianFunction function, index_t n, double argument, double log_det, double alpha,
                      bool in_alpha) {
  const BetaGaussianConstants c = beta_gaussian_constants(n, alpha - 1, log_det);
  const double value = beta_gaussian_value(function, n, argument, log_det, alpha);
  if (std::isnan(value)) {
    Jet jet{kNaN, {}, {}};
    jet.gradient.fill(kNaN);
    jet.hessian.fill(kNaN);
    return jet;
  }
  Jet jet = constant(value);
  if (function == Function::log_density) {
    jet = log_density_jet(n, variable(0, argument), log_det, alpha);
  } else if (function == Function::cdf) {
    jet = cdf_jet(argument, log_det, alpha, in_alpha);
  } else if (function == Function::quantile) {
    jet = quantile_jet(value, log_det, alpha, in_alpha);
  } else if (std::isinf(alpha)) {
    jet = uniform_jet(function, c, value);
  } else if (function == Function::log_draw) {
    jet = log_draw_jet(n, argument, ConstantJets(n, log_det, alpha));
  } else if (std::isfinite(value)) {
    jet = constant_jet(function, ConstantJets(n, log_det, alpha));
  }
  if (function == Function::cross_omega && std::isfinite(value)) jet.gradient[0] = 0.5;
  jet.value = value;
  return jet;
}

void draw_direction(std::uint64_t seed, std::span<double> out) {
  Philox rng(seed);
  double norm2 = 0;
  for (double& x : out) {
    x = standard_normal(rng);
    norm2 += x * x;
  }
  if (out.size() % 2 == 1) {
    const double last = standard_normal(rng);
    norm2 += last * last;
  }
  for (double& x : out) x /= std::sqrt(norm2);
}

}  // namespace fenchel
