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
#include "fenchel/score/absolute_score.hpp"

namespace fenchel {

/// The prediction of Sobolev(gamma) for f(t) = -|t - mu| / b on the line [SCD22, Section 7; MATH.md 6.2, E9]:
/// a triangular density (gamma = 0) with smooth ends and a smooth top, which becomes (1 - y)^2 (1 + 2 y), y =
/// |t - mu| / half_width, as gamma grows. With x = half_width / sqrt(gamma), x (x - 2 tanh(x/2)) = b / gamma.
class FENCHEL_EXPORT SmoothTriangular {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, b positive and finite.
  SmoothTriangular(double gamma, double mu, double b);

  /// The member with this variance.
  [[nodiscard]] static SmoothTriangular from_variance(double gamma, double mu, double variance);

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  [[nodiscard]] double b() const noexcept { return b_; }
  /// Half the length of the support.
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  /// tau of p - gamma p'' = f - tau: -(half_width - sqrt(gamma) tanh(x/2)) / b.
  [[nodiscard]] double threshold() const noexcept;
  [[nodiscard]] const detail::SmoothShape& shape() const noexcept { return shape_; }

  friend bool operator==(const SmoothTriangular& p, const SmoothTriangular& q) noexcept {
    return p.gamma_ == q.gamma_ && p.mu_ == q.mu_ && p.b_ == q.b_;
  }

 private:
  double gamma_, mu_, b_, half_width_;
  detail::SmoothShape shape_;
};

[[nodiscard]] inline Line domain(const SmoothTriangular&) noexcept { return {}; }
/// mu +- half_width.
[[nodiscard]] FENCHEL_EXPORT Interval support(const SmoothTriangular& p) noexcept;

/// The density with relative accuracy to the edges, where it falls like the square of the distance; dp/dt.
[[nodiscard]] FENCHEL_EXPORT double log_pdf(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double pdf_derivative(const SmoothTriangular& p, double t) noexcept;

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy, to the edges of the support
/// and for every gamma.
[[nodiscard]] FENCHEL_EXPORT double cdf(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double survival(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double log_survival(const SmoothTriangular& p, double t) noexcept;

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const SmoothTriangular& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const SmoothTriangular& p, double u);

[[nodiscard]] inline double mode(const SmoothTriangular& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const SmoothTriangular& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const SmoothTriangular& p) noexcept { return p.mu(); }
/// E|X - t|.
[[nodiscard]] FENCHEL_EXPORT double mean_deviation(const SmoothTriangular& p, double t) noexcept;
[[nodiscard]] FENCHEL_EXPORT double variance(const SmoothTriangular& p) noexcept;
[[nodiscard]] inline double skewness(const SmoothTriangular&) noexcept { return 0; }
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const SmoothTriangular& p) noexcept;
/// E(t - mu)^n in closed form. Throws std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const SmoothTriangular& p, int n);

/// int p^2 and int p'^2.
[[nodiscard]] FENCHEL_EXPORT double mean_density(const SmoothTriangular& p) noexcept;
[[nodiscard]] FENCHEL_EXPORT double roughness(const SmoothTriangular& p) noexcept;
/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0, by quadrature.
[[nodiscard]] FENCHEL_EXPORT double entropy(const SmoothTriangular& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const SmoothTriangular& p, double order);

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
[[nodiscard]] FENCHEL_EXPORT NumericDensity escort(const SmoothTriangular& p, double order);

[[nodiscard]] inline AbsoluteScore score(const SmoothTriangular& p) { return {p.mu(), p.b()}; }

namespace detail {
[[nodiscard]] FENCHEL_EXPORT AbsoluteGammaGradient expectation_gradient(const SmoothTriangular& p,
                                                                        FunctionRef<double(double)> psi);
}

/// d E_p[psi] / d(mu, b, gamma), from values of psi alone, by quadrature: to about 1e-11 for a smooth psi. At
/// gamma = 0 the derivative in gamma is the one-sided one, for a psi that is continuous at mu and at the
/// edges. Throws ConvergenceError where an integral of psi does not converge.
template <std::invocable<double> Psi>
[[nodiscard]] AbsoluteGammaGradient expectation_gradient(const SmoothTriangular& p, Psi&& psi) {
  return detail::expectation_gradient(p, FunctionRef<double(double)>(psi));
}

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const SmoothTriangular& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

static_assert(LineDistribution<SmoothTriangular>);

}  // namespace fenchel
