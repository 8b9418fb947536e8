#pragma once

/// The losses of scaled Gaussian scores on the line, with gradients and Hessian.

#include <cmath>
#include <numbers>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/scaled_gaussian.hpp"

/// Losses of f(t) = kappa N(t; mu, sigma2) on the line for Tsallis(2) [SCD22, Section 5.4; docs/math.md 2],
/// for a target with a density, a Dirac or an Empirical. All throw as predict does, and ConvergenceError
/// where an integral of a density does not converge.
namespace fenchel {

namespace detail {
/// E_p of scale_derivative for the prediction.
[[nodiscard]] FENCHEL_EXPORT double mean_scale_derivative(const TruncatedGaussian& p);

/// phi(y) (y^4 - 6 y^2 + 3) - 3 phi(0): 4 sigma^5 / kappa times d2f/dsigma2^2, to a constant.
inline double scale_curvature(double y) noexcept {
  const double square = y * y, exponential = std::exp(-square / 2);
  return ((exponential == 0 ? 0 : square * (square - 6) * exponential) + 3 * std::expm1(-square / 2)) /
         std::sqrt(2 * std::numbers::pi);
}
/// What the prediction adds to second derivatives: E_p of the two, and generalized covariances of order 0 in
/// units of sigma, of the first with phi and with itself.
struct ScaledGaussianMoments {
  double scale_derivative, scale_curvature;
  double phi_scale, scale_scale;
};
[[nodiscard]] FENCHEL_EXPORT ScaledGaussianMoments scaled_gaussian_moments(const TruncatedGaussian& p);
}  // namespace detail

/// Omega*(f) - E_q[f] = T (1/2 + (1/2) int p^2 - E_q[f / T - tau]), T the temperature.
template <class Target>
[[nodiscard]] Loss<ScaledGaussianGradient> cross_omega(const Tsallis& omega, const ScaledGaussianScore& f,
                                                       Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return cross_omega(omega, f.moved(-at), domain, detail::centred(q));
  const TruncatedGaussian p = predict(omega, f, domain);
  const double mu = p.mu(), sigma = p.sigma(), temperature = omega.temperature();
  const auto mean_of = [&](auto&& h) { return detail::target_expectation(q, h, {mu}); };
  const double excess = mean_of([&p](double t) { return excess_score(p, t); });
  const double pull = mean_of([&](double t) { return f(t) * (t - mu); });
  const double spread = mean_of([&](double t) { return detail::scale_derivative((t - mu) / sigma); });
  return {temperature * (0.5 + mean_density(p) / 2 - excess),
          {(mean_density(p) - excess) / p.kappa(), -pull / p.sigma2(),
           f.kappa() * (detail::mean_scale_derivative(p) - spread) / (2 * p.sigma2()) / sigma}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms.
template <class Target>
[[nodiscard]] Loss<ScaledGaussianGradient> fenchel_young(const Tsallis& omega, const ScaledGaussianScore& f,
                                                         Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  const TruncatedGaussian p = predict(omega, f, domain);
  Loss<ScaledGaussianGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::sparse_fenchel_young_value(omega.temperature(), loss.value, q, p);
  return loss;
}

/// The Hessian of both losses in kappa, mu and sigma2: (E_p - E_q) of that of f, and cov_{p,0} of its
/// gradient over the temperature, p the prediction (docs/math.md 2.8).
template <class Target>
[[nodiscard]] Hessian<3> fenchel_young_hessian(const Tsallis& omega, const ScaledGaussianScore& f,
                                               Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young_hessian(omega, f.moved(-at), domain, detail::centred(q));
  const TruncatedGaussian p = predict(omega, f, domain);
  const double mu = p.mu(), sigma = p.sigma(), sigma2 = p.sigma2(), kappa = f.kappa();
  const auto mean_of = [&](auto&& h) {
    return detail::target_expectation(q, [&](double t) { return h((t - mu) / sigma); }, {mu});
  };
  const auto gaussian = [](double y) { return std::exp(-y * y / 2) / std::sqrt(2 * std::numbers::pi); };
  const auto hermite = [&](auto&& polynomial) {  // E_q[phi(y) polynomial(y)], 0 where phi is
    return mean_of([&](double y) { return gaussian(y) == 0 ? 0 : gaussian(y) * polynomial(y); });
  };
  const detail::ScaledGaussianMoments ours = detail::scaled_gaussian_moments(p);
  const double scale = ours.scale_derivative - mean_of(detail::scale_derivative);
  const double curvature = ours.scale_curvature - mean_of(detail::scale_curvature);
  const double kappa_kappa = omega.temperature() / kappa * (mean_density(p) - 0.5 / p.half_width()) / kappa;
  const double kappa_mu = -hermite([](double y) { return y; }) / sigma2;
  const double kappa_sigma2 = (scale + p.kappa() * ours.phi_scale) / (2 * sigma2 * sigma);
  const double mu_mu = -kappa * hermite([](double y) { return y * y - 1; }) / (sigma2 * sigma);
  const double mu_sigma2 = -kappa * hermite([](double y) { return y * (y * y - 3); }) / (2 * sigma2 * sigma2);
  const double sigma2_sigma2 =
      kappa * (curvature + p.kappa() * ours.scale_scale) / (4 * sigma2 * sigma2 * sigma);
  return {{{kappa_kappa, kappa_mu, kappa_sigma2},
           {kappa_mu, mu_mu, mu_sigma2},
           {kappa_sigma2, mu_sigma2, sigma2_sigma2}}};
}

}  // namespace fenchel
