#pragma once

/// The losses of absolute scores on the line, with gradients and Hessian.

#include <cmath>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/absolute_gradient.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/absolute.hpp"

/// Losses of f(t) = -|t - mu| / b on the line [SCD22, Section 4.2; docs/math.md 2], for a target with a
/// density, a Dirac or an Empirical. All throw as predict does, and ConvergenceError where an integral of a
/// density does not converge.
namespace fenchel {

namespace detail {
/// What the densities q_t and p_t at t add to the Fenchel-Young loss over the temperature.
[[nodiscard]] FENCHEL_EXPORT double fenchel_young_term_at(const BetaLaplace& p, double q_t, double p_t,
                                                          double t);
}  // namespace detail

/// Omega*(f) - E_q[f].
template <class Target>
[[nodiscard]] Loss<AbsoluteGradient> cross_omega(const Tsallis& omega, const AbsoluteScore& f, Line domain,
                                                 const Target& q) {
  const BetaLaplace p = predict(omega, f, domain);
  const double b = f.b(), mu = f.mu();
  const double deviation = detail::target_deviation(q, mu);
  return {conjugate(omega, f, domain) + deviation / b,
          {-detail::target_sign(q, mu) / b, (absolute_moment(p, 1) - deviation) / b / b,
           -omega.temperature() * negentropy_order_derivative(p, omega.alpha())}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms and
/// alpha >= 1.
template <class Target>
[[nodiscard]] Loss<AbsoluteGradient> fenchel_young(const Tsallis& omega, const AbsoluteScore& f, Line domain,
                                                   const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  const BetaLaplace p = predict(omega, f, domain);
  const double alpha = omega.alpha(), temperature = omega.temperature();
  Loss<AbsoluteGradient> loss = cross_omega(omega, f, domain, q);
  const auto term = [&](double q_t, double p_t, double t) {
    return detail::fenchel_young_term_at(p, q_t, p_t, t);
  };
  const double conjugate_value = conjugate(omega, f, domain) / temperature;
  const double mean_score = conjugate_value - loss.value / temperature;
  loss.value = temperature * detail::fenchel_young_value(alpha, conjugate_value, mean_score, q, p, term);
  if (!std::isinf(alpha)) loss.gradient.alpha += temperature * negentropy_order_derivative(q, alpha);
  return loss;
}

/// The second derivative of both losses in theta = -1/b at fixed mu: cov_{p,2-alpha}(|t - mu|, |t - mu|) =
/// b spread / (alpha (2 alpha - 1)), derived; 0 at infinite alpha.
[[nodiscard]] FENCHEL_EXPORT double fenchel_young_hessian(const Tsallis& omega, const AbsoluteScore& f,
                                                          Line domain);

}  // namespace fenchel
