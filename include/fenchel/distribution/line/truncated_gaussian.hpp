#pragma once

/// `TruncatedGaussian`: a scaled Gaussian density less a constant, where that is positive.

#include <cmath>
#include <concepts>
#include <numbers>
#include <random>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/score/scaled_gaussian_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(2) for f(t) = kappa N(t; mu, sigma2) on the line [SCD22, Section 5.4;
/// docs/math.md 3]: p = [f - tau]_+, a Gaussian density less a constant. As kappa grows it becomes a
/// truncated parabola.
class FENCHEL_EXPORT TruncatedGaussian {
 public:
  using value_type = double;

  /// Throws std::domain_error unless kappa > 1 (at 1 the support is the line and below 1 there is no
  /// solution: docs/math.md E17) and finite, mu finite, sigma2 positive and finite, the threshold finite.
  explicit TruncatedGaussian(double kappa = 2, double mu = 0, double sigma2 = 1);

  [[nodiscard]] double kappa() const noexcept { return kappa_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] TruncatedGaussian centred() const noexcept {
    TruncatedGaussian p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  [[nodiscard]] double sigma() const noexcept { return sigma_; }
  /// half_width / sigma: the root of P(3/2, z^2/2) = 1 / kappa.
  [[nodiscard]] double z() const noexcept { return z_; }
  /// Half the length of the support.
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  /// kappa phi(z).
  [[nodiscard]] double level() const noexcept { return level_; }
  /// tau = level / sigma.
  [[nodiscard]] double threshold() const noexcept { return level_ / sigma_; }

  friend bool operator==(const TruncatedGaussian& p, const TruncatedGaussian& q) noexcept {
    return p.kappa_ == q.kappa_ && p.mu_ == q.mu_ && p.sigma2_ == q.sigma2_;
  }

 private:
  double kappa_, mu_, sigma2_, sigma_, z_, half_width_, level_;
};

[[nodiscard]] inline Line domain(const TruncatedGaussian&) noexcept { return {}; }
/// mu +- half_width.
[[nodiscard]] FENCHEL_EXPORT Interval support(const TruncatedGaussian& p) noexcept;

/// f - tau: the density on the support, negative off it.
[[nodiscard]] FENCHEL_EXPORT double excess_score(const TruncatedGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_pdf(const TruncatedGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf(const TruncatedGaussian& p, double t) noexcept;

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy, to the edges of the support
/// and for every kappa.
[[nodiscard]] FENCHEL_EXPORT double cdf(const TruncatedGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double survival(const TruncatedGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const TruncatedGaussian& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_survival(const TruncatedGaussian& p, double t) noexcept;

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const TruncatedGaussian& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const TruncatedGaussian& p, double u);

[[nodiscard]] inline double mode(const TruncatedGaussian& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const TruncatedGaussian& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const TruncatedGaussian& p) noexcept { return p.mu(); }
[[nodiscard]] FENCHEL_EXPORT double variance(const TruncatedGaussian& p) noexcept;
[[nodiscard]] FENCHEL_EXPORT double standard_deviation(const TruncatedGaussian& p) noexcept;
[[nodiscard]] inline double skewness(const TruncatedGaussian&) noexcept { return 0; }
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const TruncatedGaussian& p) noexcept;
/// E(t - mu)^{2k} = (2k - 1)!! sigma^{2k} P(k + 3/2, z^2/2) / P(3/2, z^2/2), odd ones 0. Throws
/// std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const TruncatedGaussian& p, int n);

/// int p^2.
[[nodiscard]] FENCHEL_EXPORT double mean_density(const TruncatedGaussian& p) noexcept;
/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0, by quadrature.
[[nodiscard]] FENCHEL_EXPORT double entropy(const TruncatedGaussian& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const TruncatedGaussian& p, double order);

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
[[nodiscard]] FENCHEL_EXPORT NumericDensity escort(const TruncatedGaussian& p, double order);

[[nodiscard]] inline ScaledGaussianScore score(const TruncatedGaussian& p) {
  return {p.kappa(), p.mu(), p.sigma2()};
}

/// Derivatives with respect to the parameters of a ScaledGaussianScore.
struct ScaledGaussianGradient {
  double kappa, mu, sigma2;
};

namespace detail {
/// phi(y) (y^2 - 1) + phi(0), without cancellation at 0: 2 sigma2 sigma / kappa times df/dsigma2, to a
/// constant.
inline double scale_derivative(double y) noexcept {
  const double half = y * y / 2, exponential = std::exp(-half);
  return ((exponential == 0 ? 0 : y * y * exponential) - std::expm1(-half)) / std::sqrt(2 * std::numbers::pi);
}
[[nodiscard]] FENCHEL_EXPORT ScaledGaussianGradient expectation_gradient(const TruncatedGaussian& p,
                                                                         FunctionRef<double(double)> psi,
                                                                         double accuracy,
                                                                         std::span<const double> cuts);
}  // namespace detail

/// The derivatives of E[psi(t)] with respect to the parameters of the family, cov_{p,0} with those of the
/// score [SCD22, Section 4.2; docs/math.md 2.6], for any callable: psi need not be differentiable, and may
/// change quickly at `cuts`. Throws as expectation does.
template <std::invocable<double> F>
[[nodiscard]] ScaledGaussianGradient expectation_gradient(const TruncatedGaussian& p, F&& psi,
                                                          double accuracy = 1e-10,
                                                          std::span<const double> cuts = {}) {
  return detail::expectation_gradient(p, psi, accuracy, cuts);
}

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const TruncatedGaussian& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(LineDistribution<TruncatedGaussian>);

}  // namespace fenchel
