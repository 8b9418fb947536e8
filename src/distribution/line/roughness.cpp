#include "fenchel/distribution/line/roughness.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <cmath>

#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr double kInf = kInfinity;

/// p^{2-alpha}, the derivative of p with respect to the score; 0 off the support.
template <class P>
double response(const P& p, double t) noexcept {
  const double log_density = log_pdf(p, t);
  if (std::isnan(log_density)) return log_density;
  return std::isinf(log_density) || std::isinf(p.alpha()) ? 0 : std::exp((2 - p.alpha()) * log_density);
}

/// f'(t) inside an interval, from a central difference of order 6.
double difference(FunctionRef<double(double)> f, double t, const Interval& interval, double unit) {
  const double room = std::min(t - interval.lower(), interval.upper() - t);
  const double step = std::min(1e-3 * unit, room / 16);
  if (!(step > 0)) return 0;
  const auto odd = [&](double k) { return f(t + k * step) - f(t - k * step); };
  return (3. / 4 * odd(1) - 3. / 20 * odd(2) + odd(3) / 60) / step;
}

}  // namespace

double pdf_derivative(const BetaGaussian& p, double t) noexcept {
  const double factor = response(p, t);
  return factor == 0 ? 0 : -factor * (t - p.mu()) / p.sigma2();
}
double pdf_derivative(const BetaLaplace& p, double t) noexcept {
  const double factor = response(p, t) / p.b();
  return t > p.mu() ? -factor : t < p.mu() ? factor : t - p.mu();
}
double pdf_derivative(const TruncatedGaussian& p, double t) noexcept {
  const double density = pdf(p, t);
  return density == 0 ? 0 : -(density + p.threshold()) * (t - p.mu()) / p.sigma2();
}
double pdf_derivative(const LocationScale& p, double t) {
  if (std::isnan(t)) return t;
  const double y = std::abs(t - p.mu()), edge = p.half_width();
  const auto density = [&p](double at) { return pdf(p, p.mu() + at); };
  const double slope = difference(density, y, {0, edge}, edge / 2);
  return t < p.mu() ? -slope : slope;
}
double pdf_derivative(const NumericDensity& p, double t) {
  if (std::isnan(t)) return t;
  const double unit = survival_quantile(p, 0.25) - quantile(p, 0.25);
  for (const Interval& piece : p.support()) {
    if (!(t > piece.lower() && t < piece.upper())) continue;
    if (p.derivative()) return p.derivative()(t);
    double lower = piece.lower(), upper = piece.upper();
    for (const double mode : p.modes()) {  // which may be kinks
      if (mode < t) lower = std::max(lower, mode);
      if (mode > t) upper = std::min(upper, mode);
    }
    return difference([&p](double at) { return pdf(p, at); }, t, {lower, upper}, unit);
  }
  return 0;
}

double roughness(const BetaGaussian& p) {
  const double am1 = p.alpha() - 1;
  if (am1 >= 2) return kInf;
  if (am1 <= 0) return detail::quadrature_roughness(p, 1e-10);
  // p = peak (1 - y^2)^{1/am1} in units of the half width
  const double peak = pdf(p, p.mu()), width = p.half_width();
  return 4 * peak / am1 * (peak / am1) / width * boost::math::beta(1.5, (2 - am1) / am1);
}

double roughness(const BetaLaplace& p) noexcept {
  const double peak = std::exp(p.log_peak());
  return p.alpha() >= 3 ? kInf : 2 * peak / (3 - p.alpha()) * (peak / p.spread());
}

double roughness(const NumericDensity& p) { return roughness(p, {-kInf, kInf}); }

double roughness(const NumericDensity& p, const Interval& domain) {
  constexpr double kJump = 1e-6;
  const double peak = pdf(p, mode(p));
  for (const Interval& piece : p.support()) {
    for (const double end : {piece.lower(), piece.upper()}) {
      const bool free = end == domain.lower() || end == domain.upper();
      if (!free && !std::isinf(end) && pdf(p, end) > kJump * peak) return kInf;
    }
  }
  if (p.derivative()) {
    try {
      return detail::quadrature_roughness(p, 1e-10);
    } catch (const ConvergenceError&) {  // slopes over a short layer are known no better
    }
  }
  return detail::quadrature_roughness(p, 1e-7);
}

}  // namespace fenchel
