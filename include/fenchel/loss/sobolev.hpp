#pragma once

#include <cmath>
#include <limits>
#include <vector>

#include "fenchel/distribution/gamma_gradient.hpp"
#include "fenchel/distribution/roughness.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/sobolev.hpp"

/// Losses of Sobolev for quadratic and absolute scores on the line [SCD22, Section 7; MATH.md 6.2]. A target
/// q is a density with a roughness, a Dirac or an Empirical. All throw as predict does, and ConvergenceError
/// where an integral of a density does not converge.
namespace fenchel {
namespace detail {

/// Omega*(f) + Omega(q) - E_q[f] at temperature 1; `mean_score` is E_q[f]. Where that cancels, (1/2) int (q -
/// p)^2 + (gamma/2) int (q' - p')^2 + int (tau - f) q off the support of p, derived, which is never negative.
template <class Q, LineDistribution P>
[[nodiscard]] double sobolev_fenchel_young_value(double conjugate, double mean_score, const Q& q,
                                                 const P& p) {
  constexpr double kCancels = 1. / 16, kAccuracy = 1e-9;  // q - p may be all rounding
  const double gamma = p.gamma();
  const double negentropy = -tsallis_entropy(q, 2) + (gamma == 0 ? 0 : gamma / 2 * roughness(q));
  const double value = conjugate - mean_score + negentropy;
  const double terms = std::abs(conjugate) + std::abs(mean_score) + std::abs(negentropy);
  if constexpr (LineDistribution<Q>) {
    if (value < kCancels * terms) {
      const auto f = score(p);
      const auto term = [&](double t) {
        const double q_t = pdf(q, t), p_t = pdf(p, t), gap = q_t - p_t;
        const double slope_gap = gamma == 0 ? 0 : pdf_derivative(q, t) - pdf_derivative(p, t);
        return gap * gap / 2 + gamma / 2 * slope_gap * slope_gap +
               (p_t > 0 || q_t == 0 ? 0 : q_t * (p.threshold() - f(t)));
      };
      std::vector<double> cuts = cuts_of(q);
      for (const double cut : cuts_of(p)) cuts.push_back(cut);
      return integrate_pieces(term, cuts, scale_of(p), kAccuracy).value;
    }
  }
  return value < 0 ? 0 : value;
}

/// Both losses differ in value, and in the derivative in gamma: (T / 2) int q'^2 more, NaN where the loss is
/// infinite.
template <class Gradient, class Q, LineDistribution P>
[[nodiscard]] Loss<Gradient> sobolev_fenchel_young(double temperature, double conjugate,
                                                   Loss<Gradient> cross_omega, const Q& q, const P& p) {
  Loss<Gradient> loss = cross_omega;
  loss.value = temperature * sobolev_fenchel_young_value(conjugate / temperature,
                                                         (conjugate - cross_omega.value) / temperature, q, p);
  loss.gradient.gamma +=
      std::isinf(loss.value) ? std::numeric_limits<double>::quiet_NaN() : temperature / 2 * roughness(q);
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
/// unless gamma = 0, for a q with infinite roughness; there the derivative in gamma is NaN.
template <class Target>
[[nodiscard]] Loss<QuadraticGammaGradient> fenchel_young(const Sobolev& omega, const QuadraticScore& f,
                                                         Line domain, const Target& q) {
  return detail::sobolev_fenchel_young(omega.temperature(), conjugate(omega, f, domain),
                                       cross_omega(omega, f, domain, q), q, predict(omega, f, domain));
}
template <class Target>
[[nodiscard]] Loss<AbsoluteGammaGradient> fenchel_young(const Sobolev& omega, const AbsoluteScore& f,
                                                        Line domain, const Target& q) {
  return detail::sobolev_fenchel_young(omega.temperature(), conjugate(omega, f, domain),
                                       cross_omega(omega, f, domain, q), q, predict(omega, f, domain));
}

}  // namespace fenchel
