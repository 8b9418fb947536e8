#include "fenchel/distribution/line/beta_gaussian.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "core/beta_gaussian/conjugate.hpp"
#include "core/beta_gaussian/line_tail.hpp"
#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr double kInf = kInfinity;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
constexpr auto kWhere = "beta_gaussian";

double checked_alpha(double alpha, double bound, const char* constraint) {
  if (!(alpha > bound)) throw_domain_error(kWhere, "alpha", constraint, alpha);
  return alpha;
}

/// sigma2 of the member with -1 / (log p)''(mu) = sigma2 e^z equal to the exponential of
/// `log_curvature_radius`; finite alpha. With c = am1 / (2 + am1), log sigma2 (1 - c) = log_curvature_radius
/// + c (log 2 pi - 2 D_1).
double sigma2_from_curvature(double alpha, double log_curvature_radius) {
  const double am1 = alpha - 1;
  const double shift = am1 / (2 + am1) * (std::log(2 * std::numbers::pi) - 2 * log_gamma_ratio(1, am1));
  return std::exp((2 + am1) / 2 * (log_curvature_radius + shift));
}

/// radius2 overflows for a large alpha and a sigma2 that is almost 0, and for a small alpha and a huge
/// sigma2.
double checked_half_width(const BetaGaussian& p) {
  if (p.alpha() > 1) return detail::checked_positive(kWhere, "half_width", p.half_width());
  if (p.alpha() < 1 && std::isinf(p.constants().radius2))
    throw_domain_error(kWhere, "sigma2", "must keep p(mu)^(alpha - 1) in the range of doubles", p.sigma2());
  return kInf;
}

/// That of a uniform density, whose square is its sigma2.
double checked_length(const char* name, double length) {
  if (!(length * length >= std::numeric_limits<double>::min() && length * length < kInf))
    throw_domain_error(kWhere, name, "must have a square within the range of doubles", length);
  return length;
}

BetaGaussianConstants uniform_constants(double length) {
  const double radius2 = 0.25;
  return {1, kInf, -std::log(length), kInf, radius2, -radius2 / 2, -radius2 / 2, radius2 / 3};
}

double standardised(const BetaGaussian& p, double t) { return (t - p.mu()) / std::sqrt(p.sigma2()); }

/// Whether all mass lies above t, or below it. Where both ends round to mu, half of it lies on each side.
bool is_below(const BetaGaussian& p, double t) {
  return t <= p.support().lower() && p.support().lower() < p.support().upper();
}
bool is_above(const BetaGaussian& p, double t) {
  return t >= p.support().upper() && p.support().lower() < p.support().upper();
}

/// P(X > mu + sigma x) for any x, and its logarithm.
double tail(const BetaGaussian& p, double x) {
  if (std::isnan(x)) return x;
  return x >= 0 ? detail::line_tail(p.constants(), x) : 1 - detail::line_tail(p.constants(), -x);
}
double log_tail(const BetaGaussian& p, double x) {
  if (std::isnan(x)) return x;
  return x >= 0 ? detail::log_line_tail(p.constants(), x) : std::log1p(-detail::line_tail(p.constants(), -x));
}

/// The x >= 0 with P(X > mu + x) = u <= 1/2.
double tail_distance(const BetaGaussian& p, double u) {
  return std::sqrt(p.sigma2()) * detail::line_tail_quantile(p.constants(), u);
}

}  // namespace

BetaGaussian::BetaGaussian(double alpha, double mu, double sigma2)
    : alpha_(checked_alpha(alpha, 0, "must be positive on the line")),
      mu_(detail::checked_finite(kWhere, "mu", mu)),
      sigma2_(detail::checked_positive(kWhere, "sigma2", sigma2)),
      constants_(beta_gaussian_constants(1, alpha - 1, std::log(sigma2))),
      support_(mu - checked_half_width(*this), mu + half_width()) {}

BetaGaussian BetaGaussian::student(double nu, double mu, double scale) {
  if (!(nu > 1 && nu < kInf)) throw_domain_error(kWhere, "nu", "must be above 1 and finite", nu);
  detail::checked_positive(kWhere, "scale", scale);
  const double alpha = (nu - 1) / (nu + 1);  // -1 / (log p)'' = scale^2 nu / (nu + 1)
  return BetaGaussian(alpha, mu, sigma2_from_curvature(alpha, 2 * std::log(scale) + std::log(nu / (nu + 1))));
}

BetaGaussian BetaGaussian::uniform(double lower, double upper) {
  detail::checked_finite(kWhere, "lower", lower);
  detail::checked_finite(kWhere, "upper", upper);
  if (!(lower < upper)) throw_domain_error(kWhere, "upper", "must be above lower", upper);
  const double length = checked_length("upper - lower", upper - lower);
  return {kInf, lower + length / 2, length * length, uniform_constants(length), {lower, upper}};
}

BetaGaussian BetaGaussian::from_variance(double alpha, double mu, double variance) {
  checked_alpha(alpha, 1. / 3, "must be above 1/3 for a finite variance");
  detail::checked_positive(kWhere, "variance", variance);
  if (std::isinf(alpha)) return from_half_width(alpha, mu, std::sqrt(3 * variance));
  return BetaGaussian(alpha, mu,
                      sigma2_from_curvature(alpha, std::log(variance) + std::log((3 * alpha - 1) / 2)));
}

BetaGaussian BetaGaussian::from_half_width(double alpha, double mu, double half_width) {
  checked_alpha(alpha, 1, "must be above 1 for a bounded support");
  detail::checked_positive(kWhere, "half_width", half_width);
  if (std::isinf(alpha)) {
    detail::checked_finite(kWhere, "mu", mu);
    const double length = checked_length("2 half_width", 2 * half_width);
    const Interval rounded{mu - half_width, mu + half_width};
    return {kInf, mu, length * length, uniform_constants(length), rounded};
  }
  return BetaGaussian(alpha, mu,
                      sigma2_from_curvature(alpha, 2 * std::log(half_width) + std::log((alpha - 1) / 2)));
}

BetaGaussian BetaGaussian::from_canonical(double alpha, std::array<double, 2> theta) {
  detail::checked_finite(kWhere, "theta[0]", theta[0]);
  if (!(theta[1] < 0 && theta[1] > -kInf))
    throw_domain_error(kWhere, "theta[1]", "must be negative and finite", theta[1]);
  return BetaGaussian(alpha, -theta[0] / (2 * theta[1]), -1 / (2 * theta[1]));
}

double BetaGaussian::half_width() const noexcept {
  return alpha_ > 1 ? std::sqrt(sigma2_) * std::sqrt(constants_.radius2) : kInf;
}

double log_pdf(const BetaGaussian& p, double t) noexcept {
  const BetaGaussianConstants& c = p.constants();
  if (std::isnan(t)) return t;
  if (!p.support().contains(t)) return -kInf;
  if (std::isinf(c.am1)) return c.log_peak;
  const double x = t - p.mu(), q = x * (x / p.sigma2());
  if (std::isinf(q) && c.am1 < 0)  // far out in a power law
    return c.log_peak + (2 * std::log(std::abs(x)) - std::log(p.sigma2()) - std::log(-c.radius2)) / c.am1;
  return log_density(c, q);
}

double pdf(const BetaGaussian& p, double t) noexcept { return std::exp(log_pdf(p, t)); }

double survival(const BetaGaussian& p, double t) noexcept {
  if (is_below(p, t)) return 1;
  return is_above(p, t) ? 0 : tail(p, standardised(p, t));
}
double cdf(const BetaGaussian& p, double t) noexcept {
  if (is_below(p, t)) return 0;
  return is_above(p, t) ? 1 : tail(p, -standardised(p, t));
}
double log_survival(const BetaGaussian& p, double t) noexcept {
  if (is_below(p, t)) return 0;
  return is_above(p, t) ? -kInf : log_tail(p, standardised(p, t));
}
double log_cdf(const BetaGaussian& p, double t) noexcept {
  if (is_below(p, t)) return -kInf;
  return is_above(p, t) ? 0 : log_tail(p, -standardised(p, t));
}

double survival_quantile(const BetaGaussian& p, double u) {
  return detail::symmetric_survival_quantile(p.mu(), support(p), u,
                                             [&p](double v) { return tail_distance(p, v); });
}

double quantile(const BetaGaussian& p, double u) {
  return detail::symmetric_quantile(p.mu(), support(p), u, [&p](double v) { return tail_distance(p, v); });
}

double variance(const BetaGaussian& p) noexcept { return p.constants().variance_factor * p.sigma2(); }

double standard_deviation(const BetaGaussian& p) noexcept {
  return detail::deviation(variance(p), std::sqrt(p.constants().variance_factor) * std::sqrt(p.sigma2()));
}

double skewness(const BetaGaussian& p) noexcept { return p.alpha() > 0.5 ? 0 : kNaN; }

double kurtosis(const BetaGaussian& p) noexcept {
  return p.alpha() > 0.6 ? 3 * (3 - 1 / p.alpha()) / (5 - 3 / p.alpha()) : kInf;
}

double central_moment(const BetaGaussian& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  const BetaGaussianConstants& c = p.constants();
  // The n-th moment exists where the tail |t|^{-2/(1-alpha)} allows it.
  const bool exists = c.am1 >= 0 || -c.am1 * (n + 1.) < 2;
  if (n % 2 == 1) return exists ? 0 : kNaN;
  if (!exists) return kInf;
  double product = 1;
  for (int j = 0; 2 * j < n; ++j) {  // E[q^{j+1}] / E[q^j] of y = q / radius2 ~ Beta(1/2, 1 + 1/am1)
    const double ratio = std::isinf(c.peak_power) ? c.radius2 * (1 + 2. * j) / (2 / c.am1 + 3 + 2. * j)
                                                  : c.peak_power * (1 + 2. * j) / (1 + (1.5 + j) * c.am1);
    product *= p.sigma2() * ratio;
  }
  return product;
}

double entropy(const BetaGaussian& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const BetaGaussian& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  if (2 * order <= -p.constants().am1) return kInf;
  return -tsallis_negentropy(p.constants(), order);
}

double negentropy_order_derivative(const BetaGaussian& p, double order) {
  return detail::tsallis_negentropy_order_derivative(p.constants(), order);
}

BetaGaussian escort(const BetaGaussian& p, double order) {
  const double am1 = p.constants().am1;
  if (!(order >= 0 && order < kInf))
    throw_domain_error("escort", "order", "must be finite and not negative for a beta-Gaussian", order);
  if (order <= -am1)
    throw_domain_error("escort", "order", "must be above 1 - alpha for a beta-Gaussian", order);
  if (std::isinf(am1)) return p;
  if (order == 0) return BetaGaussian::uniform(support(p).lower(), support(p).upper());
  // p^order has order times the curvature of log p, and am1 / order in the place of am1.
  const double alpha = 1 + am1 / order, z = am1 * p.constants().log_peak;
  const double sigma2 = sigma2_from_curvature(alpha, std::log(p.sigma2()) + z - std::log(order));
  if (!(sigma2 > 0 && sigma2 < kInf))
    throw_domain_error("escort", "order", "must be such that the escort's sigma2 is positive and finite",
                       order);
  return BetaGaussian(alpha, p.mu(), sigma2);
}

std::array<double, 2> canonical_parameters(const BetaGaussian& p) noexcept {
  return {p.mu() / p.sigma2(), -1 / (2 * p.sigma2())};
}

namespace detail {

double sample(const BetaGaussian& p, BitSource source) {
  const BetaGaussianConstants& c = p.constants();
  const double z = standard_normal(source.next(source.rng)), sigma = std::sqrt(p.sigma2());
  if (c.am1 == 0) return p.mu() + sigma * z;
  // q / radius2 ~ Beta(1/2, 1 + 1/am1) is z^2 / (z^2 + 2 g); for alpha < 1 Student's t (docs/math.md 4).
  const double g = standard_gamma(c.am1 > 0 ? 1 + 1 / c.am1 : -1 / c.am1 - 0.5, source);
  const double q = c.am1 > 0 ? c.radius2 / (z * z + 2 * g) : -c.radius2 / (2 * g);
  return p.mu() + sigma * z * std::sqrt(q);
}

}  // namespace detail
}  // namespace fenchel
