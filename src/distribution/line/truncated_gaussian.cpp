#include "fenchel/distribution/line/truncated_gaussian.hpp"

#include <algorithm>
#include <boost/math/quadrature/gauss.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <limits>
#include <numbers>

#include "distribution/line/bounded_density.hpp"
#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "truncated_gaussian";

double checked_kappa(double kappa) {
  if (!(kappa > 1 && kappa <= std::numeric_limits<double>::max()))
    throw_domain_error(kWhere, "kappa", "must be > 1 and finite", kappa);
  return kappa;
}

/// z^2/2 is the 3/2 gamma quantile at 1 / kappa, taken from the complement where 1 / kappa is near 1.
double edge(double kappa) {
  using boost::math::gamma_p_inv, boost::math::gamma_q_inv;
  return std::sqrt(2 * (kappa < 2 ? gamma_q_inv(1.5, (kappa - 1) / kappa) : gamma_p_inv(1.5, 1 / kappa)));
}

double normal_density(double z) { return std::exp(-z * z / 2) / std::sqrt(2 * std::numbers::pi); }

/// (z^2 - x^2 / sigma2) / 2, without cancellation next to the edge.
double exponent(const TruncatedGaussian& p, double x) noexcept {
  return (p.half_width() - x) / p.sigma() * ((p.half_width() + x) / p.sigma()) / 2;
}

/// P(X > mu + sigma (z - depth)) for 0 <= depth <= z: level * int_0^depth expm1(z r - r^2/2) dr. Ten Gauss
/// nodes are exact to rounding where the exponent is at most 1; beyond, the closed form cancels by less than
/// a factor 8.
double tail(const TruncatedGaussian& p, double depth) noexcept {
  if (!(depth > 0)) return std::isnan(depth) ? depth : 0;
  const double z = p.z(), level = p.level();
  if (depth * (z - depth / 2) <= 1) {
    const auto height = [&](double x) {
      const double r = depth * (1 + x) / 2;
      return std::expm1(r * (z - r / 2));
    };
    return level * depth / 2 * boost::math::quadrature::gauss<double, 10>::integrate(height);
  }
  const double y = std::max(0.0, z - depth), root2 = std::numbers::sqrt2;
  return p.kappa() * (std::erfc(y / root2) - std::erfc(z / root2)) / 2 - depth * level;
}

/// P(X > mu + x), and its logarithm, for any x.
double depth_of(const TruncatedGaussian& p, double x) noexcept {
  return (p.half_width() - std::abs(x)) / p.sigma();
}
double beyond(const TruncatedGaussian& p, double x) noexcept {
  const double mass = tail(p, depth_of(p, x));
  return x < 0 ? 1 - mass : mass;
}
double log_beyond(const TruncatedGaussian& p, double x) noexcept {
  const double mass = tail(p, depth_of(p, x));
  return x < 0 ? std::log1p(-mass) : std::log(mass);
}

/// The x >= 0 with P(X > mu + x) = u <= 1/2. log tail is concave in the depth; the start is beyond the root,
/// since tail >= level z depth^2 / 3.
double tail_distance(const TruncatedGaussian& p, double u) {
  const double z = p.z(), log_u = std::log(u);
  const auto excess = [&](double depth) {
    const double mass = tail(p, depth);
    return detail::ValueAndSlope{std::log(mass) - log_u,
                                 p.level() * std::expm1(depth * (z - depth / 2)) / mass};
  };
  const double start = std::min(z, std::sqrt(3 * u / p.level() / z));
  return std::max(0.0, p.half_width() - p.sigma() * detail::increasing_root(excess, 0, z, start));
}

/// sum_j w^j / ((a + 1) ... (a + j)) = P(a, w) Gamma(a + 1) e^w / w^a.
double gamma_series(double a, double w) noexcept {
  double sum = 1, term = 1;
  for (double j = 1; term > sum * std::numeric_limits<double>::epsilon() / 8; ++j) sum += term *= w / (a + j);
  return sum;
}

/// E((t - mu) / half_width)^{2k}.
double relative_moment(const TruncatedGaussian& p, int k) noexcept {
  const double w = p.z() * p.z() / 2;
  double product = gamma_series(k + 1.5, w) / gamma_series(1.5, w);
  for (int j = 1; j <= k; ++j) product *= (2 * j - 1.) / (2 * j + 3.);
  return product;
}

}  // namespace

TruncatedGaussian::TruncatedGaussian(double kappa, double mu, double sigma2)
    : kappa_(checked_kappa(kappa)),
      mu_(detail::checked_finite(kWhere, "mu", mu)),
      sigma2_(detail::checked_positive(kWhere, "sigma2", sigma2)),
      sigma_(std::sqrt(sigma2)),
      z_(edge(kappa)),
      half_width_(z_ * sigma_),
      level_(kappa * normal_density(z_)) {
  if (!std::isfinite(threshold()))
    throw_domain_error(kWhere, "sigma2", "must keep the threshold in the range of doubles", sigma2);
}

Interval support(const TruncatedGaussian& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}

double excess_score(const TruncatedGaussian& p, double t) noexcept {
  return p.level() * std::expm1(exponent(p, std::abs(t - p.mu()))) / p.sigma();
}
double pdf(const TruncatedGaussian& p, double t) noexcept {
  return std::isnan(t) ? t : std::max(0.0, excess_score(p, t));
}
double log_pdf(const TruncatedGaussian& p, double t) noexcept { return std::log(pdf(p, t)); }

double survival(const TruncatedGaussian& p, double t) noexcept { return beyond(p, t - p.mu()); }
double log_survival(const TruncatedGaussian& p, double t) noexcept { return log_beyond(p, t - p.mu()); }
double cdf(const TruncatedGaussian& p, double t) noexcept { return beyond(p, p.mu() - t); }
double log_cdf(const TruncatedGaussian& p, double t) noexcept { return log_beyond(p, p.mu() - t); }

double quantile(const TruncatedGaussian& p, double u) {
  return detail::symmetric_quantile(p.mu(), support(p), u, [&p](double v) { return tail_distance(p, v); });
}
double survival_quantile(const TruncatedGaussian& p, double u) {
  return detail::symmetric_survival_quantile(p.mu(), support(p), u,
                                             [&p](double v) { return tail_distance(p, v); });
}

double central_moment(const TruncatedGaussian& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n % 2 == 1 ? 0 : relative_moment(p, n / 2) * std::pow(p.half_width(), n);
}
double variance(const TruncatedGaussian& p) noexcept {
  return relative_moment(p, 1) * p.half_width() * p.half_width();
}
double standard_deviation(const TruncatedGaussian& p) noexcept {
  return detail::deviation(variance(p), std::sqrt(relative_moment(p, 1)) * p.half_width());
}
double kurtosis(const TruncatedGaussian& p) noexcept {
  const double second = relative_moment(p, 1);
  return relative_moment(p, 2) / (second * second);
}

double mean_density(const TruncatedGaussian& p) noexcept {
  const double z = p.z();
  const auto square = [&](double x) {  // x = y / z
    const double density = p.level() * std::expm1(z * z * (1 - x) * (1 + x) / 2);
    return density * (z * density);
  };
  const auto both_halves = [&](double x) { return square((1 + x) / 4) + square((3 + x) / 4); };
  return boost::math::quadrature::gauss<double, 30>::integrate(both_halves) / 2 / p.sigma();
}

double entropy(const TruncatedGaussian& p) { return tsallis_entropy(p, 1); }
double tsallis_entropy(const TruncatedGaussian& p, double order) {
  const TruncatedGaussian centred = p.centred();  // about a large mu doubles are too coarse
  return detail::bounded_tsallis_entropy([&](double t) { return log_pdf(centred, t); }, support(centred), 0,
                                         order);
}

NumericDensity escort(const TruncatedGaussian& p, double order) {
  return escort(NumericDensity([p](double t) { return log_pdf(p, t); }, {support(p)}, {p.mu()}), order);
}

}  // namespace fenchel
