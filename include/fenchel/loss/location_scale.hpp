#pragma once

/// The losses of location-scale scores on the line.

#include <cmath>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/loss/line_target.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/location_scale.hpp"

/// Losses of f(t) = -g'(|t - mu| / sigma) / sigma on the line for Tsallis(2) [SCD22, Section 5.5;
/// docs/math.md 2], for a target with a density, a Dirac or an Empirical. All throw as predict does, and
/// ConvergenceError where an integral of a density does not converge.
namespace fenchel {

struct LocationScaleGradient {
  double mu, sigma;
};

namespace detail {
/// g''(y) from differences of g' of order 6 with a step of 2e-3 `unit`, on [0, inf): relative error about
/// 1e-11 where g' is smooth on that scale.
[[nodiscard]] FENCHEL_EXPORT double curvature(const LocationScaleScore& f, double y, double unit);
}  // namespace detail

/// Omega*(f) - E_q[f] = T (1/2 + (1/2) int p^2 - E_q[f / T - tau]), T the temperature.
template <class Target>
[[nodiscard]] Loss<LocationScaleGradient> cross_omega(const Tsallis& omega, const LocationScaleScore& f,
                                                      Line domain, const Target& q) {
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
  const LocationScale p = predict(omega, f, domain);
  Loss<LocationScaleGradient> loss = cross_omega(omega, f, domain, q);
  loss.value = detail::sparse_fenchel_young_value(omega.temperature(), loss.value, q, p);
  return loss;
}

}  // namespace fenchel
