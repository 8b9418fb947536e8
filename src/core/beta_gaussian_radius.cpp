#include "fenchel/core/beta_gaussian_radius.hpp"

#include <boost/math/special_functions/digamma.hpp>
#include <cmath>
#include <limits>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr double kAccuracy = 1e-13;
/// Past this am1 the radius is taken relative to the edge of the support, before it relative to e^{z/2}: the
/// first does not exist at alpha = 1, the second lets the density's derivative have a pole at the edge.
constexpr double kFromEdge = 0.5;

/// d log r / dalpha of r^2 = q at a fixed probability of the ball, with w = r e^{-z/2} of density
/// proportional to w^{n-1} exp(log1p(-am1 w^2 / 2) / am1).
double slope_from_centre(const BetaGaussianConstants& c, double q) {
  const BetaGaussianAlphaDerivatives d = alpha_derivatives(c);
  const double n = static_cast<double>(c.dimension), w2 = q / c.peak_power, w = std::sqrt(w2);
  const double room = 1 - c.am1 * w2 / 2;
  const auto slope = [&](double v2) {  // of the log density at v
    return d.log_peak + n / 2 * d.log_peak_power + log_deformed_exp_alpha_derivative(c.am1, -v2 / 2);
  };
  double inner;
  if (w2 <= n) {  // less the mass within, relative to the density
    const auto within = [&](double u) {
      const double rise = log_deformed_exp(c.am1, w2 * (1 - u * u) / (2 * room));
      return std::pow(u, n - 1) * std::exp(rise) * slope(w2 * u * u);
    };
    inner = -integrate(within, 0, 1, kAccuracy).value;
  } else {  // the mass beyond, in units over which the density falls
    const double step = 2 * room / (w + std::sqrt(w2 + 2 * room));
    const auto beyond = [&](double k) {
      const double h = k * step, v = w + h;
      const double weight = std::exp(log_deformed_exp(c.am1, -h * (w + v) / (2 * room)));
      return weight == 0 || c.am1 * (v * v / 2) >= 1 ? 0.0 : std::pow(v / w, n - 1) * weight * slope(v * v);
    };
    const double end = c.am1 > 0 ? (std::sqrt(2 / c.am1) - w) / step : kInf;
    inner = step / w * integrate(beyond, 0, end, kAccuracy).value;
  }
  return d.log_peak_power / 2 + inner;
}

/// The same with x = r / sqrt(radius2), of density proportional to x^{n-1} (1 - x^2)^s, s = 1 / am1.
double slope_from_edge(const BetaGaussianConstants& c, double q) {
  const double n = static_cast<double>(c.dimension), am1 = c.am1, s = 1 / am1, width = 2 + n * am1;
  const double mean_log = boost::math::digamma(1 + s) - boost::math::digamma(n / 2 + 1 + s);  // of 1 - x^2
  // log(radius2 / 2) = -2 (am1 free) / width - 2 log(am1) / width, free = log det(2 pi Sigma) / 2 - log of
  // the gammas.
  const double free = -c.log_peak * width / 2 + n / 2 * std::log(am1);
  const double log_radius = (-2 * free + n * std::log(am1)) / (width * width) + (mean_log * s - s) / width;
  const double x2 = q / c.radius2, x = std::sqrt(x2), gap = (1 - x) * (1 + x);
  double inner;  // d log x / ds
  if (x2 <= 0.5) {
    const auto within = [&](double u) {
      const double fall = std::log1p(-u * u * x2);
      return std::pow(u, n - 1) * std::exp(s * (fall - std::log(gap))) * (fall - mean_log);
    };
    inner = -integrate(within, 0, 1, kAccuracy).value;
  } else {
    const auto beyond = [&](double u) {  // u of the way from the edge to x
      if (u == 0) return 0.0;
      const double inset = u * (1 - x), fall = std::log(inset * (2 - inset));
      return std::pow((1 - inset) / x, n - 1) * std::exp(s * (fall - std::log(gap))) * (fall - mean_log);
    };
    inner = (1 - x) / x * integrate(beyond, 0, 1, kAccuracy).value;
  }
  return log_radius - s * s * inner;
}

}  // namespace

double log_radius_alpha_slope(const BetaGaussianConstants& c, double q) {
  if (!(q >= 0) || (c.am1 > 0 && q >= c.radius2)) return kNaN;
  if (std::isinf(c.am1)) return 0;
  return c.am1 > kFromEdge ? slope_from_edge(c, q) : slope_from_centre(c, q);
}

}  // namespace fenchel
