#pragma once

/// The losses of scaled Gaussian scores on the line.

#include <cmath>
#include <numbers>

#include "fenchel/core/config.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/scaled_gaussian.hpp"

/// Losses of f(t) = kappa N(t; mu, sigma2) on the line for Tsallis(2) [SCD22, Section 5.4; docs/math.md 2],
/// for a target with a density, a Dirac or an Empirical. All throw as predict does, and ConvergenceError
/// where an integral of a density does not converge.
namespace fenchel {

struct ScaledGaussianGradient {
  double kappa, mu, sigma2;
};

namespace detail {
/// phi(y) (y^2 - 1) + phi(0), without cancellation at 0: 2 sigma2 sigma / kappa times df/dsigma2, to a
/// constant.
inline double scale_derivative(double y) noexcept {
  const double half = y * y / 2, exponential = std::exp(-half);
  return ((exponential == 0 ? 0 : y * y * exponential) - std::expm1(-half)) / std::sqrt(2 * std::numbers::pi);
}
/// E_p of it for the prediction.
[[nodiscard]] FENCHEL_EXPORT double mean_scale_derivative(const TruncatedGaussian& p);
}  // namespace detail

/// Omega*(f) - E_q[f] = T (1/2 + (1/2) int p^2 - E_q[f / T - tau]), T the temperature.
template <class Target>
[[nodiscard]] Loss<ScaledGaussianGradient> cross_omega(const Tsallis& omega, const ScaledGaussianScore& f,
                                                       Line domain, const Target& q) {
  const TruncatedGaussian p = predict(omega, f, domain);
  const double mu = p.mu(), sigma = p.sigma(), temperature = omega.temperature();
  const auto mean_of = [&](auto&& h) { return detail::target_expectation(q, h, {mu}); };
  const double excess = mean_of([&p](double t) { return excess_score(p, t); });
  const double pull = mean_of([&](double t) { return f(t) * (t - mu); });
  const double spread = mean_of([&](double t) { return detail::scale_derivative((t - mu) / sigma); });
  return {temperature * (0.5 + mean_density(p) / 2 - excess),
          {(mean_density(p) - excess) / p.kappa(), -pull / p.sigma2(),
           f.kappa() / (2 * p.sigma2() * sigma) * (detail::mean_scale_derivative(p) - spread)}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms.
template <class Target>
[[nodiscard]] Loss<ScaledGaussianGradient> fenchel_young(const Tsallis& omega, const ScaledGaussianScore& f,
                                                         Line domain, const Target& q) {
  const TruncatedGaussian p = predict(omega, f, domain);
  Loss<ScaledGaussianGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::sparse_fenchel_young_value(omega.temperature(), loss.value, q, p);
  return loss;
}

}  // namespace fenchel
