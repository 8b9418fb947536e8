#pragma once

/// The losses of `Sobolev` for quadratic and absolute scores on the line, with gradients and Hessians.

#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/roughness.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/sobolev.hpp"

/// Losses of Sobolev for quadratic and absolute scores on the line [SCD22, Section 7; docs/math.md 6.2]. A
/// target q is a density with a roughness, a Dirac or an Empirical. All throw as predict does, and
/// ConvergenceError where an integral of a density does not converge.
namespace fenchel {
namespace detail {

/// The Fenchel-Young loss from the cross-Omega loss of the prediction p. Where their difference cancels it is
/// (1/2) int (q - p)^2 + (gamma/2) int (q' - p')^2 + int (tau - f) q off the support of p, derived.
template <class Gradient, class Q, LineDistribution P>
[[nodiscard]] Loss<Gradient> sobolev_fenchel_young(double temperature, double conjugate,
                                                   Loss<Gradient> cross_omega, const Q& q, const P& p) {
  const double gamma = p.gamma(), energy = roughness(q) / 2, penalty = gamma == 0 ? 0 : gamma * energy;
  const auto f = score(p);
  const auto slope_gap_at = [&](double t) {
    if constexpr (LineDistribution<Q>) return pdf_derivative(q, t) - pdf_derivative(p, t);
    return 0.0;
  };
  const auto term = [&](double q_t, double p_t, double t) {
    const double gap = q_t - p_t, slope_gap = gamma == 0 ? 0 : slope_gap_at(t);
    return gap * gap / 2 + gamma / 2 * slope_gap * slope_gap +
           (p_t > 0 || q_t == 0 ? 0 : q_t * (p.threshold() - f(t)));
  };
  Loss<Gradient> loss = cross_omega;
  loss.value = temperature * fenchel_young_value(2, conjugate / temperature + penalty,
                                                 (conjugate - cross_omega.value) / temperature, q, p, term);
  loss.gradient.gamma += temperature * energy;
  return loss;
}

}  // namespace detail

/// Omega*(f) - E_q[f].
template <class Target>
[[nodiscard]] Loss<QuadraticGammaGradient> cross_omega(const Sobolev& omega, const QuadraticScore& f,
                                                       Line domain, const Target& q) {
  const SmoothParabola p = predict(omega, f, domain);
  const double offset = mean(q) - f.mu(), spread = variance(q) + offset * offset, sigma2 = f.sigma2();
  return {conjugate(omega, f, domain) + spread / (2 * sigma2),
          {-offset / sigma2, (variance(p) - spread) / (2 * sigma2) / sigma2,
           -omega.temperature() / 2 * roughness(p)}};
}
template <class Target>
[[nodiscard]] Loss<AbsoluteGammaGradient> cross_omega(const Sobolev& omega, const AbsoluteScore& f,
                                                      Line domain, const Target& q) {
  const SmoothTriangular p = predict(omega, f, domain);
  const double deviation = detail::target_deviation(q, f.mu()), b = f.b();
  return {conjugate(omega, f, domain) + deviation / b,
          {-detail::target_sign(q, f.mu()) / b, (mean_deviation(p, p.mu()) - deviation) / b / b,
           -omega.temperature() / 2 * roughness(p)}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms and,
/// unless gamma = 0, for a q with infinite roughness, as is then the derivative in gamma.
template <class Target>
[[nodiscard]] Loss<QuadraticGammaGradient> fenchel_young(const Sobolev& omega, const QuadraticScore& f,
                                                         Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  return detail::sobolev_fenchel_young(omega.temperature(), conjugate(omega, f, domain),
                                       cross_omega(omega, f, domain, q), q, predict(omega, f, domain));
}
template <class Target>
[[nodiscard]] Loss<AbsoluteGammaGradient> fenchel_young(const Sobolev& omega, const AbsoluteScore& f,
                                                        Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  return detail::sobolev_fenchel_young(omega.temperature(), conjugate(omega, f, domain),
                                       cross_omega(omega, f, domain, q), q, predict(omega, f, domain));
}

namespace detail {
template <class Score>
[[nodiscard]] ShapeDerivatives conjugate_derivatives(const Sobolev& omega, const Score& f) {
  const double temperature = omega.temperature();
  return at_temperature(temperature, predict(omega, f, Line()).shape().conjugate_derivatives());
}
}  // namespace detail

/// The Hessian of both losses with respect to the canonical parameters, (mu / sigma2, -1 / (2 sigma2)) or, at
/// fixed mu, -1 / b, for every target.
[[nodiscard]] inline Hessian<2> fenchel_young_hessian(const Sobolev& omega, const QuadraticScore& f, Line) {
  return detail::canonical_hessian(f, detail::conjugate_derivatives(omega, f));
}
[[nodiscard]] inline double fenchel_young_hessian(const Sobolev& omega, const AbsoluteScore& f, Line) {
  return detail::canonical_hessian(f, detail::conjugate_derivatives(omega, f));
}
/// In mu, the scale and gamma, for a target q; infinite in gamma at gamma = 0, and in mu where q has an atom
/// at the kink of an absolute score. Throws std::domain_error where those of Omega* and of E_q[f] overflow.
template <class Q>
[[nodiscard]] Hessian<3> fenchel_young_hessian(const Sobolev& omega, const QuadraticScore& f, Line,
                                               const Q& q) {
  return detail::with_target(detail::hessian(detail::conjugate_derivatives(omega, f)), f, q);
}
template <class Q>
[[nodiscard]] Hessian<3> fenchel_young_hessian(const Sobolev& omega, const AbsoluteScore& f, Line,
                                               const Q& q) {
  return detail::with_target(detail::hessian(detail::conjugate_derivatives(omega, f)), f, q);
}

}  // namespace fenchel
