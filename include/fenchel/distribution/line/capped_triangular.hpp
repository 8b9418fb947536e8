#pragma once

/// `CappedTriangular`: a triangular density with a flat top.

#include <concepts>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/line/capped_density.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/score/absolute_score.hpp"

namespace fenchel {

/// The prediction of TotalVariation(gamma) for f(t) = -|t - mu| / b on the line [SCD22, Section 7;
/// docs/math.md 6.1]: a triangular density with its top cut off, p = (half_width - max(|t - mu|, plateau)) /
/// b. gamma = 0 is BetaLaplace::triangular; a large gamma is nearly uniform. Accessors are in
/// shaped_density.hpp.
class FENCHEL_EXPORT CappedTriangular {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, b positive and finite,
  /// and peak and threshold do not overflow.
  explicit CappedTriangular(double gamma = 1, double mu = 0, double b = 1);

  /// The member with this variance, or with this E|t - mu|.
  [[nodiscard]] static CappedTriangular from_variance(double gamma, double mu, double variance);
  [[nodiscard]] static CappedTriangular from_mean_deviation(double gamma, double mu, double deviation);

  [[nodiscard]] double gamma() const noexcept { return shape_.gamma(); }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] CappedTriangular centred() const noexcept {
    CappedTriangular p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double b() const noexcept { return shape_.scale(); }
  /// Half the length of the support: sqrt(b (1 + 2 gamma)).
  [[nodiscard]] double half_width() const noexcept { return shape_.half_width(); }
  /// Half the length of the plateau: sqrt(2 b gamma).
  [[nodiscard]] double plateau() const noexcept { return shape_.plateau(); }
  /// tau = -half_width / b, of the score -|t - mu| / b.
  [[nodiscard]] double threshold() const noexcept { return shape_.threshold(); }
  [[nodiscard]] const detail::CappedShape& shape() const noexcept { return shape_; }

  friend bool operator==(const CappedTriangular& p, const CappedTriangular& q) noexcept {
    return p.gamma() == q.gamma() && p.mu_ == q.mu_ && p.b() == q.b();
  }

 private:
  double mu_;
  detail::CappedShape shape_;
};

[[nodiscard]] inline AbsoluteScore score(const CappedTriangular& p) { return {p.mu(), p.b()}; }
/// -1 / b, for the score theta |t - mu|.
[[nodiscard]] inline double canonical_parameter(const CappedTriangular& p) noexcept { return -1 / p.b(); }

/// int p'^2 = 2 (half_width - plateau) / b^2.
[[nodiscard]] inline double roughness(const CappedTriangular& p) noexcept {
  return 2 * (p.shape().slope_share() * p.half_width() / p.b()) / p.b();
}

/// E[f(t)] for any callable, to `accuracy` times E|f(t)|, in pieces that end at the plateau's edges. Throws
/// std::domain_error where f is NaN and ConvergenceError when the accuracy is not reached.
template <std::invocable<double> F>
[[nodiscard]] double expectation(const CappedTriangular& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  return p.shape().expectation(f, p.mu(), accuracy, cuts);
}

/// The derivatives of E[psi(t)] with respect to the parameters of the family, for any callable: psi need not
/// be differentiable (docs/math.md 6.1), and may change quickly at `cuts`. Throws as expectation does.
template <std::invocable<double> F>
[[nodiscard]] AbsoluteGammaGradient expectation_gradient(const CappedTriangular& p, F&& psi,
                                                         double accuracy = 1e-10,
                                                         std::span<const double> cuts = {}) {
  const auto gradient = p.shape().expectation_gradient(psi, p.mu(), accuracy, cuts);
  return {gradient.mu, gradient.scale, gradient.gamma};
}

static_assert(LineDistribution<CappedTriangular>);

}  // namespace fenchel
