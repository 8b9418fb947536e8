#pragma once

/// `SmoothParabola`: a truncated parabola whose ends are smooth.

#include <array>
#include <concepts>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/distribution/line/smooth_density.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The prediction of Sobolev(gamma) for f(t) = -(t - mu)^2 / (2 sigma2) on the line [SCD22, Section 7;
/// docs/math.md 6.2, E8]: a truncated parabola (gamma = 0) with smooth ends, a biweight for large gamma. With
/// x = half_width / sqrt(gamma), x (1 - x coth x + x^2/3) = sigma2 / (2 gamma^{3/2}). sigma2 is the score's
/// and not the variance. Accessors are in shaped_density.hpp.
class FENCHEL_EXPORT SmoothParabola {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, sigma2 positive and finite.
  explicit SmoothParabola(double gamma = 1, double mu = 0, double sigma2 = 1);

  /// The member with this variance.
  [[nodiscard]] static SmoothParabola from_variance(double gamma, double mu, double variance);

  [[nodiscard]] double gamma() const noexcept { return shape_.gamma(); }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] SmoothParabola centred() const noexcept {
    SmoothParabola p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double sigma2() const noexcept { return shape_.scale(); }
  /// Half the length of the support.
  [[nodiscard]] double half_width() const noexcept { return shape_.half_width(); }
  /// tau of p - gamma p'' = f - tau: -half_width^2 / (2 sigma2) + (gamma / sigma2) (x coth x - 1).
  [[nodiscard]] double threshold() const noexcept { return shape_.threshold(); }
  [[nodiscard]] const detail::SmoothShape& shape() const noexcept { return shape_; }

  friend bool operator==(const SmoothParabola& p, const SmoothParabola& q) noexcept {
    return p.gamma() == q.gamma() && p.mu_ == q.mu_ && p.sigma2() == q.sigma2();
  }

 private:
  double mu_;
  detail::SmoothShape shape_;
};

[[nodiscard]] inline QuadraticScore score(const SmoothParabola& p) { return {p.mu(), p.sigma2()}; }
/// (mu / sigma2, -1 / (2 sigma2)).
[[nodiscard]] inline std::array<double, 2> canonical_parameters(const SmoothParabola& p) noexcept {
  return {p.mu() / p.sigma2(), -1 / (2 * p.sigma2())};
}

/// int p'^2.
[[nodiscard]] inline double roughness(const SmoothParabola& p) noexcept { return p.shape().roughness(); }

/// The derivatives of E[psi(t)] with respect to the parameters of the family, from values of psi alone: psi
/// need not be differentiable; to `accuracy` times the integrals of |psi|. At gamma = 0 that in gamma is the
/// one-sided one, for a psi that is continuous at mu and at the edges. psi may change quickly at `cuts`.
/// Throws as expectation does.
template <std::invocable<double> Psi>
[[nodiscard]] QuadraticGammaGradient expectation_gradient(const SmoothParabola& p, Psi&& psi,
                                                          double accuracy = 1e-10,
                                                          std::span<const double> cuts = {}) {
  const auto gradient = p.shape().expectation_gradient(psi, p.mu(), accuracy, cuts);
  return {gradient.mu, gradient.scale, gradient.gamma};
}

static_assert(LineDistribution<SmoothParabola>);

}  // namespace fenchel
