#pragma once

/// `BetaGaussian`: Student, Gaussian, biweight, truncated parabola and uniform, by alpha.

#include <array>
#include <random>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(alpha) for f(t) = -(t - mu)^2 / (2 sigma2) on the line [SCD22, Section 6]:
/// Student (alpha < 1), Gaussian (1), triweight (4/3), biweight (3/2), truncated parabola (2), semicircle
/// (3), uniform (infinity). sigma2 is the score's scale and not the variance, unless alpha = 1.
class FENCHEL_EXPORT BetaGaussian {
 public:
  using value_type = double;

  /// Throws std::domain_error unless alpha > 0 (infinity is allowed), mu is finite, sigma2 positive and
  /// finite, and neither half_width / sigma nor, for alpha < 1, p(mu)^{alpha-1} overflows.
  explicit BetaGaussian(double alpha = 2, double mu = 0, double sigma2 = 1);

  [[nodiscard]] static BetaGaussian gaussian(double mu = 0, double sigma2 = 1) {
    return BetaGaussian(1, mu, sigma2);
  }
  [[nodiscard]] static BetaGaussian triweight(double mu = 0, double sigma2 = 1) {
    return BetaGaussian(4.0 / 3, mu, sigma2);
  }
  [[nodiscard]] static BetaGaussian biweight(double mu = 0, double sigma2 = 1) {
    return BetaGaussian(1.5, mu, sigma2);
  }
  [[nodiscard]] static BetaGaussian truncated_parabola(double mu = 0, double sigma2 = 1) {
    return BetaGaussian(2, mu, sigma2);
  }
  [[nodiscard]] static BetaGaussian semicircle(double mu = 0, double sigma2 = 1) {
    return BetaGaussian(3, mu, sigma2);
  }
  /// Student's t with nu degrees of freedom, located at mu and scaled by `scale`: alpha = (nu - 1) / (nu +
  /// 1). Throws std::domain_error unless nu > 1, the range of alpha > 0.
  [[nodiscard]] static BetaGaussian student(double nu, double mu = 0, double scale = 1);
  /// Uniform on [lower, upper], with alpha = infinity. It is the prediction of a score where the length is 1;
  /// sigma2 is the square of the length. Throws std::domain_error unless lower < upper, both finite.
  [[nodiscard]] static BetaGaussian uniform(double lower, double upper);

  /// The member with this variance; it exists for alpha > 1/3.
  [[nodiscard]] static BetaGaussian from_variance(double alpha, double mu, double variance);
  /// The member with support mu +- half_width; it exists for alpha > 1.
  [[nodiscard]] static BetaGaussian from_half_width(double alpha, double mu, double half_width);
  /// The member with score theta[0] t + theta[1] t^2 up to a constant; theta[1] must be negative.
  [[nodiscard]] static BetaGaussian from_canonical(double alpha, std::array<double, 2> theta);

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] BetaGaussian centred() const noexcept {
    BetaGaussian p = *this;
    p.mu_ = 0;
    p.support_ = {-half_width(), half_width()};
    return p;
  }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  [[nodiscard]] const BetaGaussianConstants& constants() const noexcept { return constants_; }
  /// Half the length of the support; infinite for alpha <= 1.
  [[nodiscard]] double half_width() const noexcept;
  [[nodiscard]] const Interval& support() const noexcept { return support_; }

  friend bool operator==(const BetaGaussian& a, const BetaGaussian& b) noexcept {
    return a.alpha_ == b.alpha_ && a.mu_ == b.mu_ && a.sigma2_ == b.sigma2_ && a.support_ == b.support_;
  }

 private:
  BetaGaussian(double alpha, double mu, double sigma2, const BetaGaussianConstants& constants,
               const Interval& support) noexcept
      : alpha_(alpha), mu_(mu), sigma2_(sigma2), constants_(constants), support_(support) {}

  double alpha_, mu_, sigma2_;
  BetaGaussianConstants constants_;
  Interval support_;
};

[[nodiscard]] inline Line domain(const BetaGaussian&) noexcept { return {}; }
/// mu +- half_width, or the ends of the uniform distribution as they were given; the whole line for alpha <=
/// 1. Off it the density is 0, and at infinite alpha it is constant to both ends.
[[nodiscard]] inline Interval support(const BetaGaussian& p) noexcept { return p.support(); }

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const BetaGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf(const BetaGaussian& p, double t) noexcept;

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy (docs/math.md 5.6).
[[nodiscard]] FENCHEL_EXPORT double cdf(const BetaGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double survival(const BetaGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const BetaGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_survival(const BetaGaussian& p, double t) noexcept;

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const BetaGaussian& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const BetaGaussian& p, double u);

[[nodiscard]] inline double mode(const BetaGaussian& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const BetaGaussian& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const BetaGaussian& p) noexcept { return p.mu(); }
/// Infinite for alpha <= 1/3. The standard deviation is right where the variance overflows.
[[nodiscard]] FENCHEL_EXPORT double variance(const BetaGaussian& p) noexcept;
[[nodiscard]] FENCHEL_EXPORT double standard_deviation(const BetaGaussian& p) noexcept;
/// 0, and NaN where there is no third moment (alpha <= 1/2).
[[nodiscard]] FENCHEL_EXPORT double skewness(const BetaGaussian& p) noexcept;
/// E(t - mu)^4 / variance^2, 3 for the Gaussian: 3 (3 alpha - 1) / (5 alpha - 3), infinite for alpha <= 3/5.
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const BetaGaussian& p) noexcept;
/// E(t - mu)^n; an even one that does not exist is infinite, an odd one NaN. Throws std::domain_error for n <
/// 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const BetaGaussian& p, int n);

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0; infinite where the integral is.
[[nodiscard]] FENCHEL_EXPORT double entropy(const BetaGaussian& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const BetaGaussian& p, double order);

/// d Omega_order(p) / d order, to about 1e-12; 0 for an infinite order, NaN where Omega is infinite.
[[nodiscard]] FENCHEL_EXPORT double negentropy_order_derivative(const BetaGaussian& p, double order);

/// p^order / int p^order: for alpha > 1 the member on the same support with 1 + (alpha - 1) / order. Throws
/// std::domain_error unless order >= 0 and order > 1 - alpha: other escorts are no members of the family.
[[nodiscard]] FENCHEL_EXPORT BetaGaussian escort(const BetaGaussian& p, double order);

[[nodiscard]] inline QuadraticScore score(const BetaGaussian& p) { return {p.mu(), p.sigma2()}; }
/// (mu / sigma2, -1 / (2 sigma2)).
[[nodiscard]] FENCHEL_EXPORT std::array<double, 2> canonical_parameters(const BetaGaussian& p) noexcept;

namespace detail {
[[nodiscard]] FENCHEL_EXPORT double sample(const BetaGaussian& p, BitSource source);
}

/// One draw.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const BetaGaussian& p, Generator& rng) {
  return detail::sample(p, detail::bit_source(rng));
}

static_assert(LineDistribution<BetaGaussian>);

}  // namespace fenchel
