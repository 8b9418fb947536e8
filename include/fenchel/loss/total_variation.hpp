#pragma once

/// The losses of `TotalVariation` for quadratic and absolute scores on the line, with gradients and Hessians.

#include <algorithm>
#include <concepts>

#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/total_variation.hpp"

/// Losses of TotalVariation on the line [SCD22, Sections 3 and 7; docs/math.md 6.1], for a target with a
/// density and a total variation, a Dirac or an Empirical. All throw as predict does, and ConvergenceError
/// where an integral of a density does not converge.
namespace fenchel {

/// A target on the line whose total variation is known.
template <class Q>
concept VariationTarget = requires(const Q& q) {
  { domain(q) } -> std::same_as<Line>;
  { total_variation(q) } -> std::convertible_to<double>;
};

namespace detail {

/// The Fenchel-Young loss from the cross-Omega loss of the prediction p. Where their difference cancels it is
/// int (q - p)^2 / 2 + (f - f(mu + a))_+ (TV(q) / 2 - q) + (tau - f)_+ q: derived from the dual variable z of
/// the total variation, which is -1 and 1 off the plateau and has gamma z' = f(mu + a) - f on it.
template <VariationTarget Q, CappedDensity P>
[[nodiscard]] double capped_fenchel_young_value(const TotalVariation& omega, double cross_omega, const Q& q,
                                                const P& p) {
  const double height = total_variation(q) / 2, gamma = omega.gamma(), temperature = omega.temperature();
  const double base = 0.5 + mean_density(p) / 2, steps = gamma == 0 ? 0 : 2 * gamma * height;
  const auto f = score(p);
  const double level = f(p.mu() + p.plateau()), peak = pdf(p, p.mu());
  const auto term = [&](double q_t, double p_t, double t) {
    const double gap = q_t - p_t, above = p_t == peak ? std::max(0.0, f(t) - level) : 0;
    return gap * gap / 2 + above * std::max(0.0, height - q_t) +
           (q_t == 0 ? 0 : q_t * (p_t - excess_score(p, t)));
  };
  return temperature * fenchel_young_value(2, base + steps, base - cross_omega / temperature, q, p, term);
}

}  // namespace detail

/// Omega*(f) - E_q[f].
template <class Q>
[[nodiscard]] Loss<AbsoluteGammaGradient> cross_omega(const TotalVariation& omega, const AbsoluteScore& f,
                                                      Line domain, const Q& q) {
  const CappedTriangular p = predict(omega, f, domain);
  const double b = f.b(), mu = f.mu(), deviation = detail::target_deviation(q, mu);
  return {conjugate(omega, f, domain) + deviation / b,
          {-detail::target_sign(q, mu) / b, (mean_deviation(p, mu) / b - deviation / b) / b,
           -omega.temperature() * total_variation(p)}};
}
template <class Q>
[[nodiscard]] Loss<QuadraticGammaGradient> cross_omega(const TotalVariation& omega, const QuadraticScore& f,
                                                       Line domain, const Q& q) {
  const CappedParabola p = predict(omega, f, domain);
  const double sigma2 = f.sigma2(), d = mean(q) - f.mu(), square = variance(q) / sigma2 + d * (d / sigma2);
  return {conjugate(omega, f, domain) + square / 2,
          {-d / sigma2, (variance(p) / sigma2 - square) / (2 * sigma2),
           -omega.temperature() * total_variation(p)}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms, as is
/// then the derivative in gamma.
template <VariationTarget Q>
[[nodiscard]] Loss<AbsoluteGammaGradient> fenchel_young(const TotalVariation& omega, const AbsoluteScore& f,
                                                        Line domain, const Q& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  Loss<AbsoluteGammaGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::capped_fenchel_young_value(omega, loss.value, q, predict(omega, f, domain));
  loss.gradient.gamma += omega.temperature() * total_variation(q);
  return loss;
}
template <VariationTarget Q>
[[nodiscard]] Loss<QuadraticGammaGradient> fenchel_young(const TotalVariation& omega, const QuadraticScore& f,
                                                         Line domain, const Q& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  Loss<QuadraticGammaGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::capped_fenchel_young_value(omega, loss.value, q, predict(omega, f, domain));
  loss.gradient.gamma += omega.temperature() * total_variation(q);
  return loss;
}

namespace detail {
template <class Score>
[[nodiscard]] ShapeDerivatives conjugate_derivatives(const TotalVariation& omega, const Score& f) {
  const double temperature = omega.temperature();
  return at_temperature(temperature, predict(omega, f, Line()).shape().conjugate_derivatives());
}
}  // namespace detail

/// The Hessian of both losses with respect to the canonical parameters, (mu / sigma2, -1 / (2 sigma2)) or, at
/// fixed mu, -1 / b, for every target.
[[nodiscard]] inline Hessian<2> fenchel_young_hessian(const TotalVariation& omega, const QuadraticScore& f,
                                                      Line) {
  return detail::canonical_hessian(f, detail::conjugate_derivatives(omega, f));
}
[[nodiscard]] inline double fenchel_young_hessian(const TotalVariation& omega, const AbsoluteScore& f, Line) {
  return detail::canonical_hessian(f, detail::conjugate_derivatives(omega, f));
}
/// In mu, the scale and gamma, for a target q; infinite in gamma at gamma = 0, and in mu where q has an atom
/// at the kink of an absolute score. Throws std::domain_error where those of Omega* and of E_q[f] overflow.
template <class Q>
[[nodiscard]] Hessian<3> fenchel_young_hessian(const TotalVariation& omega, const QuadraticScore& f, Line,
                                               const Q& q) {
  return detail::with_target(detail::hessian(detail::conjugate_derivatives(omega, f)), f, q);
}
template <class Q>
[[nodiscard]] Hessian<3> fenchel_young_hessian(const TotalVariation& omega, const AbsoluteScore& f, Line,
                                               const Q& q) {
  return detail::with_target(detail::hessian(detail::conjugate_derivatives(omega, f)), f, q);
}

}  // namespace fenchel
