#pragma once

/// The losses of quadratic scores on the line, with gradients and Hessian.

#include <array>
#include <concepts>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/loss/target.hpp"
#include "fenchel/predict/quadratic.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/quadratic_score.hpp"

/// Losses of quadratic scores on the line [SCD22, Sections 3 and 6; docs/math.md 5.5, E3, E4, E11]. All
/// functions throw std::domain_error unless alpha > 1/3: below, Omega*(f) is infinite. Temperature T: T
/// loss(f / T; q).
namespace fenchel {

/// The Hessian of both losses with respect to the canonical parameters: cov_{p, 2-alpha} of (t, t^2) under
/// the prediction p (E11), in closed form.
[[nodiscard]] FENCHEL_EXPORT std::array<std::array<double, 2>, 2> fenchel_young_hessian(
    const Tsallis& omega, const QuadraticScore& f, Line domain);

/// A target known by its moments.
template <class Q>
concept LineTarget = requires(const Q& q) {
  { domain(q) } -> std::same_as<Line>;
  { mean(q) } -> std::convertible_to<double>;
  { variance(q) } -> std::convertible_to<double>;
};

namespace detail {
[[nodiscard]] FENCHEL_EXPORT Loss<QuadraticGradient> quadratic_loss(const Tsallis& omega,
                                                                    const QuadraticScore& f, double mean,
                                                                    double variance, TargetNegentropy target);
}

/// Omega*(f) + Omega(q) - E_q[f]. A beta-Gaussian of the same alpha has a closed form without cancellation:
/// never negative, and exactly 0 at the prediction.
[[nodiscard]] FENCHEL_EXPORT Loss<QuadraticGradient> fenchel_young(const Tsallis& omega,
                                                                   const QuadraticScore& f, Line domain,
                                                                   const BetaGaussian& q);
/// Any other target, an observation or a sample as well; then the loss is infinite, and its derivative in
/// alpha NaN, for alpha >= 1. Never negative.
template <LineTarget Q>
[[nodiscard]] Loss<QuadraticGradient> fenchel_young(const Tsallis& omega, const QuadraticScore& f, Line,
                                                    const Q& q) {
  Loss<QuadraticGradient> loss =
      detail::quadratic_loss(omega, f, mean(q), variance(q), detail::target_negentropy(q, omega.alpha()));
  if (loss.value < 0) loss.value = 0;  // by rounding
  return loss;
}

/// Omega*(f) - E_q[f].
template <LineTarget Q>
[[nodiscard]] Loss<QuadraticGradient> cross_omega(const Tsallis& omega, const QuadraticScore& f, Line,
                                                  const Q& q) {
  return detail::quadratic_loss(omega, f, mean(q), variance(q), {0, 0});
}

}  // namespace fenchel
