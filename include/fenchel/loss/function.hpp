#pragma once

/// The losses of any score on the line or an interval.

#include <cmath>
#include <concepts>
#include <utility>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/distribution/line/dirac.hpp"
#include "fenchel/distribution/line/empirical.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/function.hpp"

/// Fenchel-Young losses of any score on the line or an interval [SCD22, Sections 3.1, 4.2; docs/math.md 2],
/// for any target with expectation(q, f) and tsallis_entropy(q, order). They throw what predict and
/// expectation throw.
namespace fenchel {

struct AlphaGradient {
  double alpha;
};
struct LinearGradient {
  std::vector<double> theta;
  double alpha;
};

template <class Target>
concept LossTarget = requires(const Target& q) {
  {
    expectation(q, [](double t) { return t; })
    } -> std::convertible_to<double>;
  { tsallis_entropy(q, 2.0) } -> std::convertible_to<double>;
};

namespace detail {

/// E_q[f], -infinity where q charges points at which f is, or outside of the domain.
template <class Target, class F>
double expected_score(const Target& q, const F& f, const Interval& domain) {
  constexpr double kNever = -kInfinity;
  bool masked = false;
  const auto unmasked = [&](double t) {
    const double value = domain.contains(t) ? f(t) : kNever;
    masked = masked || value == kNever;
    return value == kNever ? 0.0 : value;
  };
  try {
    const double mean = expectation(q, unmasked);
    return masked ? kNever : mean;
  } catch (const ConvergenceError&) {
    if (masked) return kNever;
    throw;
  }
}

}  // namespace detail

/// Omega*(f) - E_q[f], with its derivatives with respect to alpha and, for a LinearScore or ParametricScore,
/// theta: E_p[df / dtheta] - E_q[df / dtheta] for the prediction p [SCD22, Section 3.2], 0 exactly where
/// theta is stationary. +infinity where q charges what f masks.
template <CallableScore Score, LineOrInterval Domain, LossTarget Target>
[[nodiscard]] auto cross_omega(const Tsallis& omega, const Score& f, const Domain& domain, const Target& q) {
  const Interval range = detail::as_interval(domain);
  const auto p = detail::predict_numeric(omega, f, range, detail::kNumericAccuracy);
  const double value = detail::conjugate(omega, p, f) - detail::expected_score(q, f, range);
  const double alpha = -omega.temperature() * negentropy_order_derivative(p.density, omega.alpha());
  if constexpr (DifferentiableScore<Score>) {
    std::vector<double> theta;
    for (const auto& slope : f.gradient())
      theta.push_back(expectation(p.density, slope) - expectation(q, slope));
    return Loss<LinearGradient>{value, {std::move(theta), alpha}};
  } else {
    return Loss<AlphaGradient>{value, {alpha}};
  }
}

/// Omega*(f) + Omega(q) - E_q[f], never negative, with the same derivatives.
template <CallableScore Score, LineOrInterval Domain, LossTarget Target>
[[nodiscard]] auto fenchel_young(const Tsallis& omega, const Score& f, const Domain& domain,
                                 const Target& q) {
  auto loss = cross_omega(omega, f, domain, q);
  loss.value -= omega.temperature() * tsallis_entropy(q, omega.alpha());
  if (loss.value < 0) loss.value = 0;
  loss.gradient.alpha += omega.temperature() * negentropy_order_derivative(q, omega.alpha());
  return loss;
}

/// The Gauss-Newton part of their Hessian with respect to theta, never indefinite: cov_{p, 2-alpha}(df /
/// dtheta, df / dtheta) / T under the prediction p. The Hessian is this plus E_p[d^2 f / dtheta^2] - E_q[d^2
/// f / dtheta^2], which is 0 where q = p, and for a LinearScore.
template <DifferentiableScore Score, LineOrInterval Domain>
[[nodiscard]] Eigen::MatrixXd fenchel_young_gauss_newton(const Tsallis& omega, const Score& f,
                                                         const Domain& domain) {
  return beta_covariance(predict(omega, f, domain), 2 - omega.alpha(), f.gradient(), f.gradient()) /
         omega.temperature();
}

/// The Hessian of both with respect to theta, for every target: cov_{p, 2-alpha}(phi, phi) / T under the
/// prediction p (docs/math.md E11).
template <LineOrInterval Domain>
[[nodiscard]] Eigen::MatrixXd fenchel_young_hessian(const Tsallis& omega, const LinearScore& f,
                                                    const Domain& domain) {
  return fenchel_young_gauss_newton(omega, f, domain);
}

}  // namespace fenchel
