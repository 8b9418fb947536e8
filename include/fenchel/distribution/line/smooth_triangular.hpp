#pragma once

/// `SmoothTriangular`: a triangular density whose top and ends are smooth.

#include <concepts>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/distribution/line/smooth_density.hpp"
#include "fenchel/score/absolute_score.hpp"

namespace fenchel {

/// The prediction of Sobolev(gamma) for f(t) = -|t - mu| / b on the line [SCD22, Section 7; docs/math.md 6.2,
/// E9]: a triangular density (gamma = 0) with smooth ends and a smooth top, (1 - y)^2 (1 + 2 y), y = |t - mu|
/// / half_width, for large gamma. With x = half_width / sqrt(gamma), x (x - 2 tanh(x/2)) = b / gamma.
/// Accessors are in shaped_density.hpp.
class FENCHEL_EXPORT SmoothTriangular {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, b positive and finite.
  explicit SmoothTriangular(double gamma = 1, double mu = 0, double b = 1);

  /// The member with this variance, or with this E|t - mu|.
  [[nodiscard]] static SmoothTriangular from_variance(double gamma, double mu, double variance);
  [[nodiscard]] static SmoothTriangular from_mean_deviation(double gamma, double mu, double deviation);

  [[nodiscard]] double gamma() const noexcept { return shape_.gamma(); }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] SmoothTriangular centred() const noexcept {
    SmoothTriangular p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double b() const noexcept { return shape_.scale(); }
  /// Half the length of the support.
  [[nodiscard]] double half_width() const noexcept { return shape_.half_width(); }
  /// tau of p - gamma p'' = f - tau: -(half_width - sqrt(gamma) tanh(x/2)) / b.
  [[nodiscard]] double threshold() const noexcept { return shape_.threshold(); }
  [[nodiscard]] const detail::SmoothShape& shape() const noexcept { return shape_; }

  friend bool operator==(const SmoothTriangular& p, const SmoothTriangular& q) noexcept {
    return p.gamma() == q.gamma() && p.mu_ == q.mu_ && p.b() == q.b();
  }

 private:
  double mu_;
  detail::SmoothShape shape_;
};

[[nodiscard]] inline AbsoluteScore score(const SmoothTriangular& p) { return {p.mu(), p.b()}; }
/// -1 / b, for the score theta |t - mu|.
[[nodiscard]] inline double canonical_parameter(const SmoothTriangular& p) noexcept { return -1 / p.b(); }

/// int p'^2.
[[nodiscard]] inline double roughness(const SmoothTriangular& p) noexcept { return p.shape().roughness(); }

/// The derivatives of E[psi(t)] with respect to the parameters of the family, from values of psi alone: psi
/// need not be differentiable; to `accuracy` times the integrals of |psi|. At gamma = 0 that in gamma is the
/// one-sided one, for a psi that is continuous at mu and at the edges. psi may change quickly at `cuts`.
/// Throws as expectation does.
template <std::invocable<double> Psi>
[[nodiscard]] AbsoluteGammaGradient expectation_gradient(const SmoothTriangular& p, Psi&& psi,
                                                         double accuracy = 1e-10,
                                                         std::span<const double> cuts = {}) {
  const auto gradient = p.shape().expectation_gradient(psi, p.mu(), accuracy, cuts);
  return {gradient.mu, gradient.scale, gradient.gamma};
}

static_assert(LineDistribution<SmoothTriangular>);

}  // namespace fenchel
