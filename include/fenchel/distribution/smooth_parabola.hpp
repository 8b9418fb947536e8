#pragma once

#include <concepts>
#include <random>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/generic.hpp"
#include "fenchel/distribution/numeric_density.hpp"
#include "fenchel/distribution/smooth_shape.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The prediction of Sobolev(gamma) for f(t) = -(t - mu)^2 / (2 sigma2) on the line [SCD22, Section 7;
/// MATH.md 6.2, E8]: a truncated parabola (gamma = 0) with smooth ends, which becomes a biweight as gamma
/// grows. With x = half_width / sqrt(gamma), x (1 - x coth x + x^2/3) = sigma2 / (2 gamma^{3/2}).
class FENCHEL_EXPORT SmoothParabola {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, sigma2 positive and finite.
  SmoothParabola(double gamma, double mu, double sigma2);

  /// The member with this variance.
  [[nodiscard]] static SmoothParabola from_variance(double gamma, double mu, double variance);

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double sigma2() const noexcept { return sigma2_; }
  /// Half the length of the support.
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  /// tau of p - gamma p'' = f - tau: -half_width^2 / (2 sigma2) + (gamma / sigma2) (x coth x - 1).
  [[nodiscard]] double threshold() const noexcept;
  [[nodiscard]] const detail::SmoothShape& shape() const noexcept { return shape_; }

  friend bool operator==(const SmoothParabola& p, const SmoothParabola& q) noexcept {
    return p.gamma_ == q.gamma_ && p.mu_ == q.mu_ && p.sigma2_ == q.sigma2_;
  }

 private:
  double gamma_, mu_, sigma2_, half_width_;
  detail::SmoothShape shape_;
};

[[nodiscard]] inline Line domain(const SmoothParabola&) noexcept { return {}; }
/// mu +- half_width.
[[nodiscard]] FENCHEL_EXPORT Interval support(const SmoothParabola& p) noexcept;

/// The density with relative accuracy to the edges, where it falls like the square of the distance; dp/dt.
[[nodiscard]] FENCHEL_EXPORT double log_pdf(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const SmoothParabola& p, double t) noexcept;

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy, to the edges of the support
/// and for every gamma.
[[nodiscard]] FENCHEL_EXPORT double cdf(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double survival(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_survival(const SmoothParabola& p, double t) noexcept;

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const SmoothParabola& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const SmoothParabola& p, double u);

[[nodiscard]] inline double mode(const SmoothParabola& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const SmoothParabola& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const SmoothParabola& p) noexcept { return p.mu(); }
/// E|X - t|.
[[nodiscard]] FENCHEL_EXPORT double mean_deviation(const SmoothParabola& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double variance(const SmoothParabola& p) noexcept;
[[nodiscard]] inline double skewness(const SmoothParabola&) noexcept { return 0; }
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const SmoothParabola& p) noexcept;
/// E(t - mu)^n in closed form. Throws std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const SmoothParabola& p, int n);

/// int p^2 and int p'^2.
[[nodiscard]] FENCHEL_EXPORT double mean_density(const SmoothParabola& p) noexcept;
[[nodiscard]] FENCHEL_EXPORT double roughness(const SmoothParabola& p) noexcept;
/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0, by quadrature.
[[nodiscard]] FENCHEL_EXPORT double entropy(const SmoothParabola& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const SmoothParabola& p, double order);

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
[[nodiscard]] FENCHEL_EXPORT NumericDensity escort(const SmoothParabola& p, double order);

[[nodiscard]] inline QuadraticScore score(const SmoothParabola& p) { return {p.mu(), p.sigma2()}; }

namespace detail {
[[nodiscard]] FENCHEL_EXPORT QuadraticGammaGradient expectation_gradient(const SmoothParabola& p,
                                                                         FunctionRef<double(double)> psi);
}

/// d E_p[psi] / d(mu, sigma2, gamma), from values of psi alone, by quadrature: to about 1e-11 for a smooth
/// psi. At gamma = 0 the derivative in gamma is the one-sided one, for a psi that is continuous at mu and at
/// the edges. Throws ConvergenceError where an integral of psi does not converge.
template <std::invocable<double> Psi>
[[nodiscard]] QuadraticGammaGradient expectation_gradient(const SmoothParabola& p, Psi&& psi) {
  return detail::expectation_gradient(p, FunctionRef<double(double)>(psi));
}

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const SmoothParabola& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(LineDistribution<SmoothParabola>);

}  // namespace fenchel
