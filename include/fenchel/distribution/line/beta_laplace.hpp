#pragma once

/// `BetaLaplace`: Laplace at alpha = 1, triangular at alpha = 2.

#include <random>

#include "fenchel/core/config.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/score/absolute_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(alpha) for f(t) = -|t - mu| / b on the line: heavy tails (alpha < 1), Laplace
/// (1), triangular (2) [SCD22, Section 5.3], uniform on mu +- 1/2 (infinity). For every alpha, derived,
/// p = peak exp_{2-alpha}(-|t - mu| / spread), peak = (alpha / (2 b))^{1/alpha}, spread = alpha / (2 peak).
class FENCHEL_EXPORT BetaLaplace {
 public:
  using value_type = double;

  /// Throws std::domain_error unless alpha > 1/2 (infinity is allowed; below, the mean does not exist), mu is
  /// finite, b positive and finite, and peak, spread and threshold -half_width / b do not overflow.
  explicit BetaLaplace(double alpha = 2, double mu = 0, double b = 1);

  [[nodiscard]] static BetaLaplace laplace(double mu = 0, double b = 1) { return BetaLaplace(1, mu, b); }
  [[nodiscard]] static BetaLaplace triangular(double mu = 0, double b = 1) { return BetaLaplace(2, mu, b); }
  /// The member with this variance; it exists for finite alpha > 2/3.
  [[nodiscard]] static BetaLaplace from_variance(double alpha, double mu, double variance);
  /// The member with this E|t - mu|; it exists for finite alpha.
  [[nodiscard]] static BetaLaplace from_mean_deviation(double alpha, double mu, double deviation);
  /// The member with support mu +- half_width; it exists for finite alpha > 1.
  [[nodiscard]] static BetaLaplace from_half_width(double alpha, double mu, double half_width);

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] BetaLaplace centred() const noexcept {
    BetaLaplace p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double b() const noexcept { return b_; }
  /// log p(mu).
  [[nodiscard]] double log_peak() const noexcept { return log_peak_; }
  /// The unit of |t - mu| in p = peak exp_{2-alpha}(-|t - mu| / spread); infinite with alpha.
  [[nodiscard]] double spread() const noexcept { return spread_; }
  /// (alpha - 1) / spread: 1 / half_width for alpha > 1, 0 for 1, negative below.
  [[nodiscard]] double rate() const noexcept { return rate_; }
  /// Half the length of the support; infinite for alpha <= 1.
  [[nodiscard]] double half_width() const noexcept;

  friend bool operator==(const BetaLaplace& p, const BetaLaplace& q) noexcept {
    return p.alpha_ == q.alpha_ && p.mu_ == q.mu_ && p.b_ == q.b_;
  }

 private:
  double alpha_, mu_, b_, log_peak_, spread_, rate_;
};

[[nodiscard]] inline Line domain(const BetaLaplace&) noexcept { return {}; }
/// mu +- half_width; the whole line for alpha <= 1.
[[nodiscard]] FENCHEL_EXPORT Interval support(const BetaLaplace& p) noexcept;

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const BetaLaplace& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf(const BetaLaplace& p, double t) noexcept;

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy. The tail beyond |t - mu| is
/// (p(t) / peak)^alpha / 2.
[[nodiscard]] FENCHEL_EXPORT double cdf(const BetaLaplace& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double survival(const BetaLaplace& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const BetaLaplace& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_survival(const BetaLaplace& p, double t) noexcept;

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const BetaLaplace& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const BetaLaplace& p, double u);

[[nodiscard]] inline double mode(const BetaLaplace& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const BetaLaplace& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const BetaLaplace& p) noexcept { return p.mu(); }
/// E|t - mu|^n = n! spread^n / prod_{k=2..n+1} (1 + k (alpha - 1)); infinite for alpha <= n / (n + 1). Throws
/// std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double absolute_moment(const BetaLaplace& p, int n);
/// E|X - t| = |t - mu| + spread (p(t) / peak)^{2 alpha - 1} / (2 alpha - 1).
[[nodiscard]] FENCHEL_EXPORT double mean_deviation(const BetaLaplace& p, double t) noexcept;
/// Infinite for alpha <= 2/3. The standard deviation is right where the variance overflows.
[[nodiscard]] FENCHEL_EXPORT double variance(const BetaLaplace& p) noexcept;
[[nodiscard]] FENCHEL_EXPORT double standard_deviation(const BetaLaplace& p) noexcept;
/// 0, and NaN where there is no third moment (alpha <= 3/4).
[[nodiscard]] FENCHEL_EXPORT double skewness(const BetaLaplace& p) noexcept;
/// E(t - mu)^4 / variance^2: 6 (2 alpha - 1) (3 alpha - 2) / ((4 alpha - 3) (5 alpha - 4)), infinite for
/// alpha <= 4/5.
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const BetaLaplace& p) noexcept;
/// E(t - mu)^n; an even one that does not exist is infinite, an odd one NaN. Throws std::domain_error for n <
/// 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const BetaLaplace& p, int n);

/// Shannon entropy 1/alpha - log peak, and Tsallis entropy -Omega_order of any order > 0, from
/// int p^order = peak^{order-1} alpha / (order + alpha - 1); infinite where the integral is.
[[nodiscard]] FENCHEL_EXPORT double entropy(const BetaLaplace& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const BetaLaplace& p, double order);

/// d Omega_order(p) / dorder, of p as a fixed density, for any finite order with a finite int p^order; 0 at
/// infinity.
[[nodiscard]] FENCHEL_EXPORT double negentropy_order_derivative(const BetaLaplace& p, double order);

/// p^order / int p^order: the member with 1 + (alpha - 1) / order and spread / order. Throws
/// std::domain_error where that is no member: unless order is positive and, for alpha < 1, above
/// 2 (1 - alpha), or when its b overflows. The uniform one is its own escort of every finite order.
[[nodiscard]] FENCHEL_EXPORT BetaLaplace escort(const BetaLaplace& p, double order);

[[nodiscard]] inline AbsoluteScore score(const BetaLaplace& p) { return {p.mu(), p.b()}; }
/// -1 / b, for the score theta |t - mu|.
[[nodiscard]] inline double canonical_parameter(const BetaLaplace& p) noexcept { return -1 / p.b(); }

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const BetaLaplace& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(LineDistribution<BetaLaplace>);

}  // namespace fenchel
