#pragma once

/// `CappedParabola`: a truncated parabola with a flat top.

#include <array>
#include <concepts>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/line/capped_density.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"
#include "fenchel/score/quadratic_score.hpp"

namespace fenchel {

/// The prediction of TotalVariation(gamma) for f(t) = -(t - mu)^2 / (2 sigma2) on the line [SCD22, Section 7;
/// docs/math.md 6.1]: a truncated parabola with its top cut off, p = (half_width^2 - max(|t - mu|,
/// plateau)^2) / (2 sigma2). gamma = 0 is BetaGaussian::truncated_parabola; a large gamma is nearly uniform.
/// sigma2 is the score's and not the variance. Accessors are in shaped_density.hpp.
class FENCHEL_EXPORT CappedParabola {
 public:
  using value_type = double;

  /// Throws std::domain_error unless gamma is finite and not negative, mu finite, sigma2 positive and finite,
  /// and peak and threshold do not overflow.
  explicit CappedParabola(double gamma = 1, double mu = 0, double sigma2 = 1);

  /// The member with this variance.
  [[nodiscard]] static CappedParabola from_variance(double gamma, double mu, double variance);

  [[nodiscard]] double gamma() const noexcept { return shape_.gamma(); }
  [[nodiscard]] double mu() const noexcept { return mu_; }
  /// The same about 0.
  [[nodiscard]] CappedParabola centred() const noexcept {
    CappedParabola p = *this;
    p.mu_ = 0;
    return p;
  }
  [[nodiscard]] double sigma2() const noexcept { return shape_.scale(); }
  /// Half the length of the support: (3 sigma2 (1 + 2 gamma) / 2)^{1/3}.
  [[nodiscard]] double half_width() const noexcept { return shape_.half_width(); }
  /// Half the length of the plateau: (3 sigma2 gamma)^{1/3}.
  [[nodiscard]] double plateau() const noexcept { return shape_.plateau(); }
  /// tau = -half_width^2 / (2 sigma2), of the score -(t - mu)^2 / (2 sigma2).
  [[nodiscard]] double threshold() const noexcept { return shape_.threshold(); }
  [[nodiscard]] const detail::CappedShape& shape() const noexcept { return shape_; }

  friend bool operator==(const CappedParabola& p, const CappedParabola& q) noexcept {
    return p.gamma() == q.gamma() && p.mu_ == q.mu_ && p.sigma2() == q.sigma2();
  }

 private:
  double mu_;
  detail::CappedShape shape_;
};

[[nodiscard]] inline QuadraticScore score(const CappedParabola& p) { return {p.mu(), p.sigma2()}; }
/// (mu / sigma2, -1 / (2 sigma2)).
[[nodiscard]] inline std::array<double, 2> canonical_parameters(const CappedParabola& p) noexcept {
  return {p.mu() / p.sigma2(), -1 / (2 * p.sigma2())};
}

/// int p'^2 = 1 / sigma2.
[[nodiscard]] inline double roughness(const CappedParabola& p) noexcept { return 1 / p.sigma2(); }

/// E[f(t)] for any callable, to `accuracy` times E|f(t)|, in pieces that end at the plateau's edges. Throws
/// std::domain_error where f is NaN and ConvergenceError when the accuracy is not reached.
template <std::invocable<double> F>
[[nodiscard]] double expectation(const CappedParabola& p, F&& f, double accuracy = 1e-10,
                                 std::span<const double> cuts = {}) {
  return p.shape().expectation(f, p.mu(), accuracy, cuts);
}

/// The derivatives of E[psi(t)] with respect to the parameters of the family, for any callable: psi need not
/// be differentiable (docs/math.md 6.1), and may change quickly at `cuts`. Throws as expectation does.
template <std::invocable<double> F>
[[nodiscard]] QuadraticGammaGradient expectation_gradient(const CappedParabola& p, F&& psi,
                                                          double accuracy = 1e-10,
                                                          std::span<const double> cuts = {}) {
  const auto gradient = p.shape().expectation_gradient(psi, p.mu(), accuracy, cuts);
  return {gradient.mu, gradient.scale, gradient.gamma};
}

static_assert(LineDistribution<CappedParabola>);

}  // namespace fenchel
