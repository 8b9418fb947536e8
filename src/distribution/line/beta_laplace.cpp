#include "fenchel/distribution/line/beta_laplace.hpp"

#include <cmath>
#include <limits>
#include <numbers>

#include "distribution/line/symmetric.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "beta_laplace";
constexpr double kInf = kInfinity;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double checked_alpha(double alpha) {
  if (!(alpha > 0.5)) throw_domain_error(kWhere, "alpha", "must be above 1/2", alpha);
  return alpha;
}

/// The b whose member has this spread: spread (2 spread / alpha)^{alpha - 1}.
double b_of_spread(double alpha, double spread) {
  return spread * std::exp((alpha - 1) * std::log(2 * spread / alpha));
}

/// rate x, where the rate may be subnormal; 1 from the edge of the support on.
double relative(const BetaLaplace& p, double x) noexcept {
  if (x >= p.half_width()) return 1;
  return std::isinf(p.alpha()) ? p.rate() * x : (p.alpha() - 1) * (x / p.spread());
}

/// log1p(-rate x) / (alpha - 1) = log (p / peak) at distance x >= 0.
double log_shape(const BetaLaplace& p, double x) noexcept {
  if (p.alpha() == 1) return -x / p.spread();
  const double y = relative(p, x);
  return y >= 1 ? -kInf : std::log1p(-y) / (p.alpha() - 1);
}

/// log P(X > mu + x) for x >= 0. 1 + 1 / (alpha - 1) is alpha / (alpha - 1), also at infinity.
double log_tail(const BetaLaplace& p, double x) noexcept {
  if (p.alpha() == 1) return -x / p.spread() - std::numbers::ln2;
  const double y = relative(p, x);
  return y >= 1 ? -kInf : (1 + 1 / (p.alpha() - 1)) * std::log1p(-y) - std::numbers::ln2;
}

/// P(X > mu + x), and its logarithm, for any x.
double beyond(const BetaLaplace& p, double x) noexcept {
  const double tail = std::exp(log_tail(p, std::abs(x)));
  return x < 0 ? 1 - tail : tail;
}
double log_beyond(const BetaLaplace& p, double x) noexcept {
  const double tail = log_tail(p, std::abs(x));
  return x < 0 ? std::log1p(-std::exp(tail)) : tail;
}

/// The x >= 0 with P(X > mu + x) = u <= 1/2.
double tail_distance(const BetaLaplace& p, double u) noexcept {
  const double am1 = p.alpha() - 1, log_ratio = std::log(2 * u);
  if (am1 == 0) return 0 - p.spread() * log_ratio;
  if (std::isinf(am1)) return 0 - std::expm1(log_ratio) / p.rate();
  return 0 - std::expm1(am1 / p.alpha() * log_ratio) / am1 * p.spread();
}

/// spread / (1 + k (alpha - 1)), infinite where that is not positive; above 2 by the half width, spread /
/// (alpha - 1), since products with alpha may overflow.
double spread_over(const BetaLaplace& p, int k) noexcept {
  const double am1 = p.alpha() - 1;
  if (am1 > 1) return p.half_width() / (1 / am1 + k);
  return 1 + k * am1 > 0 ? p.spread() / (1 + k * am1) : kInf;
}

}  // namespace

BetaLaplace::BetaLaplace(double alpha, double mu, double b)
    : alpha_(checked_alpha(alpha)),
      mu_(detail::checked_finite(kWhere, "mu", mu)),
      b_(detail::checked_positive(kWhere, "b", b)),
      log_peak_(std::isinf(alpha) ? 0 : (std::log(alpha / 2) - std::log(b)) / alpha),
      spread_(std::isinf(alpha) ? kInf : alpha / 2 * std::exp(-log_peak_)),
      rate_(std::isinf(alpha) ? 2 : (alpha - 1) / spread_) {
  const double peak = std::exp(log_peak_);
  const bool in_range = (std::isinf(alpha) || (spread_ > 0 && spread_ < kInf)) && peak > 0 && peak < kInf;
  if (!in_range || (half_width() < kInf && std::isinf(half_width() / b)))
    throw_domain_error(kWhere, "b", "must keep spread, peak and threshold in the range of doubles", b);
}

BetaLaplace BetaLaplace::from_variance(double alpha, double mu, double variance) {
  if (!(alpha > 2. / 3) || std::isinf(alpha))
    throw_domain_error("beta_laplace::from_variance", "alpha", "must be finite and above 2/3", alpha);
  detail::checked_positive("beta_laplace::from_variance", "variance", variance);
  const double am1 = alpha - 1, spread = std::sqrt(variance * (1 + 2 * am1) * (1 + 3 * am1) / 2);
  return BetaLaplace(alpha, mu, b_of_spread(alpha, spread));
}

BetaLaplace BetaLaplace::from_mean_deviation(double alpha, double mu, double deviation) {
  constexpr auto kFrom = "beta_laplace::from_mean_deviation";
  if (!(alpha > 0.5) || std::isinf(alpha))
    throw_domain_error(kFrom, "alpha", "must be finite and above 1/2", alpha);
  detail::checked_positive(kFrom, "deviation", deviation);
  return BetaLaplace(alpha, mu, b_of_spread(alpha, (2 * alpha - 1) * deviation));
}

BetaLaplace BetaLaplace::from_half_width(double alpha, double mu, double half_width) {
  if (!(alpha > 1) || std::isinf(alpha))
    throw_domain_error("beta_laplace::from_half_width", "alpha", "must be finite and above 1", alpha);
  detail::checked_positive("beta_laplace::from_half_width", "half_width", half_width);
  return BetaLaplace(alpha, mu, b_of_spread(alpha, (alpha - 1) * half_width));
}

double BetaLaplace::half_width() const noexcept { return alpha_ > 1 ? 1 / rate_ : kInf; }

Interval support(const BetaLaplace& p) noexcept { return {p.mu() - p.half_width(), p.mu() + p.half_width()}; }

double log_pdf(const BetaLaplace& p, double t) noexcept {
  return p.log_peak() + log_shape(p, std::abs(t - p.mu()));
}
double pdf(const BetaLaplace& p, double t) noexcept { return std::exp(log_pdf(p, t)); }

double log_survival(const BetaLaplace& p, double t) noexcept { return log_beyond(p, t - p.mu()); }
double survival(const BetaLaplace& p, double t) noexcept { return beyond(p, t - p.mu()); }
double log_cdf(const BetaLaplace& p, double t) noexcept { return log_beyond(p, p.mu() - t); }
double cdf(const BetaLaplace& p, double t) noexcept { return beyond(p, p.mu() - t); }

double quantile(const BetaLaplace& p, double u) {
  return detail::symmetric_quantile(p.mu(), support(p), u, [&p](double v) { return tail_distance(p, v); });
}
double survival_quantile(const BetaLaplace& p, double u) {
  return detail::symmetric_survival_quantile(p.mu(), support(p), u,
                                             [&p](double v) { return tail_distance(p, v); });
}

double absolute_moment(const BetaLaplace& p, int n) {
  if (n < 0) throw_domain_error("absolute_moment", "n", "must not be negative", n);
  double product = 1;
  for (int k = 1; k <= n; ++k) product *= k * spread_over(p, k + 1);
  return product;
}

double mean_deviation(const BetaLaplace& p, double t) noexcept {
  const double am1 = p.alpha() - 1, x = std::abs(t - p.mu()), y = relative(p, x), scale = spread_over(p, 2);
  if (am1 == 0) return x + scale * std::exp(-x / p.spread());
  return y >= 1 ? x : x + scale * std::exp((2 + 1 / am1) * std::log1p(-y));
}

double variance(const BetaLaplace& p) noexcept { return absolute_moment(p, 2); }

double standard_deviation(const BetaLaplace& p) noexcept {
  const double scaled = std::numbers::sqrt2 * std::sqrt(spread_over(p, 2)) * std::sqrt(spread_over(p, 3));
  return detail::deviation(variance(p), scaled);
}

double skewness(const BetaLaplace& p) noexcept { return p.alpha() > 0.75 ? 0 : kNaN; }

double kurtosis(const BetaLaplace& p) noexcept {
  if (std::isinf(spread_over(p, 5))) return kInf;
  return 6 * (spread_over(p, 4) / spread_over(p, 2)) * (spread_over(p, 5) / spread_over(p, 3));
}

double central_moment(const BetaLaplace& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  if (n % 2 == 0) return absolute_moment(p, n);
  return std::isinf(absolute_moment(p, n)) ? kNaN : 0;
}

double entropy(const BetaLaplace& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const BetaLaplace& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  if (std::isinf(order)) return p.log_peak() > 0 ? -kInf : 0;
  const double mean_log = p.log_peak() - log_deformed_exp(order - 1, 1 / p.alpha());
  return 0.0 - deformed_log_of_exp(order - 1, mean_log) / order;
}

double negentropy_order_derivative(const BetaLaplace& p, double order) {
  if (std::isinf(order)) return 0;
  // Omega_order = log_{2-order}(e^m) / order, m = log peak - log1p((order - 1) / alpha) / (order - 1).
  const double om1 = order - 1, share = 1 / p.alpha();
  const double mean_log = p.log_peak() - log_deformed_exp(om1, share);
  // Where e^{om1 m} may overflow before it is divided by om1^2, e^{-om1 m} is nothing beside it.
  constexpr double kHuge = 700;
  if (om1 * mean_log > kHuge) {
    const double part = om1 * share, unit = std::exp(om1 * mean_log - 2 * std::log(om1)) / order;
    return unit * (om1 * mean_log - 1 + std::log1p(part) - part / (1 + part) - om1 / order);
  }
  const double mean_log_slope = -log_deformed_exp_alpha_derivative(om1, share);
  return (deformed_log_alpha_derivative<1>(om1, mean_log) + std::exp(om1 * mean_log) * mean_log_slope -
          deformed_log_of_exp(om1, mean_log) / order) /
         order;
}

BetaLaplace escort(const BetaLaplace& p, double order) {
  detail::checked_finite("escort", "order", order);
  if (std::isinf(p.alpha())) return p;
  const double alpha = 1 + (p.alpha() - 1) / order, spread = p.spread() / order;
  if (!(order > 0 && alpha > 0.5))
    throw_domain_error("escort", "order", "must be positive and above 2 (1 - alpha)", order);
  const double b = b_of_spread(alpha, spread);
  if (!(b > 0 && b <= std::numeric_limits<double>::max()))
    throw_domain_error("escort", "order", "must be so large that the escort's b does not overflow", order);
  return BetaLaplace(alpha, p.mu(), b);
}

}  // namespace fenchel
