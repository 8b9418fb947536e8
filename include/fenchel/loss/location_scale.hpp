#pragma once

/// The losses of location-scale scores on the line, with gradients and Hessian.

#include <cmath>
#include <vector>

#include "fenchel/distribution/hessian.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/location_scale.hpp"

/// Losses of f(t) = -g'(|t - mu| / sigma) / sigma on the line for Tsallis(2) [SCD22, Section 5.5;
/// docs/math.md 2], for a target with a density, a Dirac or an Empirical. All throw as predict does, and
/// ConvergenceError where an integral of a density does not converge.
namespace fenchel {

/// Omega*(f) - E_q[f] = T (1/2 + (1/2) int p^2 - E_q[f / T - tau]), T the temperature.
template <class Target>
[[nodiscard]] Loss<LocationScaleGradient> cross_omega(const Tsallis& omega, const LocationScaleScore& f,
                                                      Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return cross_omega(omega, f.moved(-at), domain, detail::centred(q));
  const LocationScale p = predict(omega, f, domain);
  const double mu = f.mu(), sigma = f.sigma(), temperature = omega.temperature(), square = mean_density(p);
  const std::vector<double> cuts = {mu, support(p).lower(), support(p).upper()};
  const auto mean_of = [&](auto&& h) { return detail::target_expectation(q, h, cuts); };
  const auto bend = [&](double t) { return detail::curvature(f, std::abs(t - mu) / sigma, p.a()); };
  const double excess = mean_of([&p](double t) { return excess_score(p, t); });
  const double pull = mean_of([&](double t) { return t == mu ? 0 : std::copysign(bend(t), t - mu); });
  const double stretch = mean_of([&](double t) { return std::abs(t - mu) / sigma * bend(t); }) / sigma;
  // sigma df/dsigma = -f + y g''(y) / sigma, and Omega* - 1/2 is homogeneous of degree -1 in sigma.
  const double fall = temperature * (excess - square / 2);
  return {temperature * (0.5 + square / 2 - excess), {-pull / (sigma * sigma), (fall - stretch) / sigma}};
}

/// Omega*(f) + Omega(q) - E_q[f]: never negative, 0 exactly where q is the prediction, +inf for atoms.
template <class Target>
[[nodiscard]] Loss<LocationScaleGradient> fenchel_young(const Tsallis& omega, const LocationScaleScore& f,
                                                        Line domain, const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young(omega, f.moved(-at), domain, detail::centred(q));
  const LocationScale p = predict(omega, f, domain);
  Loss<LocationScaleGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::sparse_fenchel_young_value(omega.temperature(), loss.value, q, p);
  return loss;
}

/// The Hessian of both losses in mu and sigma: that of Omega* less E_q of that of f, with derivatives of g'
/// by differences, to about 1e-9. g''(0) > 0 is a kink of f, which counts by the density of q at mu.
template <class Target>
[[nodiscard]] Hessian<2> fenchel_young_hessian(const Tsallis& omega, const LocationScaleScore& f, Line domain,
                                               const Target& q) {
  if (const double at = detail::location(q); at != 0)
    return fenchel_young_hessian(omega, f.moved(-at), domain, detail::centred(q));
  const LocationScale p = predict(omega, f, domain);
  const double mu = f.mu(), sigma = f.sigma(), square = sigma * sigma, cube = square * sigma, a = p.a();
  const std::vector<double> cuts = {mu, support(p).lower(), support(p).upper()};
  const auto mean_of = [&](auto&& h) {  // of h(y, g'', g''', sign)
    const auto at = [&](double t) {
      const double y = std::abs(t - mu) / sigma;
      return h(y, detail::curvature(f, y, a), detail::curvature_slope(f, y, a), (t > mu) - (t < mu));
    };
    return detail::target_expectation(q, at, cuts);
  };
  const double excess = detail::target_expectation(
      q, [&p](double t) { return excess_score(p, t); }, cuts);
  const double smooth = mean_of([](double, double, double third, int) { return third; });
  const double bend = detail::curvature(f, 0, a), rise = p.edge_slope() - f.slope(0);
  const bool kink = a * bend > 1e-9 * rise;  // else all rounding
  const double mixed = mean_of(
      [](double y, double second, double third, int side) { return side * (2 * second + y * third); });
  const double stretch =
      mean_of([](double y, double second, double third, int) { return y * (4 * second + y * third); });
  const double fall = omega.temperature() * (mean_density(p) - 2 * excess);
  const double mu_mu = (smooth + (kink ? 2 * bend * sigma * detail::target_density(q, mu) : 0)) / cube;
  return {{{mu_mu, mixed / cube}, {mixed / cube, fall / square + stretch / cube}}};
}

}  // namespace fenchel
