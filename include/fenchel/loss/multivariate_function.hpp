#pragma once

/// The losses of any score in the plane, in space or on a box of them.

#include <cmath>
#include <limits>

#include <Eigen/Core>

#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/euclidean/multivariate_dirac.hpp"
#include "fenchel/distribution/euclidean/multivariate_empirical.hpp"
#include "fenchel/distribution/euclidean/multivariate_expectation.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/multivariate_function.hpp"

/// Fenchel-Young losses of any score on R^2, R^3 or a box [SCD22, Sections 3.1, 4.2; docs/math.md 2] against
/// an observation, a sample or a density. They throw what predict and expectation throw, and
/// std::invalid_argument where dimensions differ.
namespace fenchel {
namespace detail {

[[nodiscard]] inline double expected_score(const MultivariateEmpirical& q, const MultivariateFunctionScore& f,
                                           const Box& domain) {
  for (Eigen::Index i = 0; i < q.columns().cols(); ++i)
    if (!domain.contains(q.columns().col(i)))
      return q.columns().col(i).hasNaN() ? std::numeric_limits<double>::quiet_NaN() : -kInfinity;
  return f.batch()(q.columns()).mean();
}
[[nodiscard]] inline double expected_score(const MultivariateDirac& q, const MultivariateFunctionScore& f,
                                           const Box& domain) {
  return expected_score(MultivariateEmpirical(q.at), f, domain);
}
/// -infinity where q charges points at which f is, or outside of the domain.
template <class Q>
[[nodiscard]] double expected_score(const Q& q, const MultivariateFunctionScore& f, const Box& domain) {
  bool masked = false;
  const auto unmasked = [&](const Eigen::VectorXd& t) {
    const double value = domain.contains(t) ? f(t) : -kInfinity;
    masked = masked || value == -kInfinity;
    return value == -kInfinity ? 0 : value;
  };
  try {
    const double mean = expectation(q, unmasked);
    return masked ? -kInfinity : mean;
  } catch (const ConvergenceError&) {
    if (masked) return -kInfinity;
    throw;
  }
}

}  // namespace detail

/// What has a dimension, a Tsallis entropy and expectations.
template <class Q>
concept MultivariateTarget = std::same_as<Q, MultivariateDirac> || std::same_as<Q, MultivariateEmpirical> ||
    std::same_as<Q, MultivariateBetaGaussian> || std::same_as<Q, MultivariateNumericDensity>;

/// Omega*(f) - E_q[f], with its derivative with respect to alpha. +infinity where q charges what f masks.
template <EuclideanOrBox Domain, MultivariateTarget Q>
[[nodiscard]] Loss<AlphaGradient> cross_omega(const Tsallis& omega, const MultivariateFunctionScore& f,
                                              const Domain& where, const Q& q) {
  const Box box(where);
  if (domain(q).dimension() != box.dimension())
    throw_invalid_argument("cross_omega", "the dimension of the target", "must be that of the domain",
                           domain(q).dimension());
  const auto p = detail::predict_numeric(omega, f, box);
  return {detail::conjugate(omega, p, f) - detail::expected_score(q, f, box),
          {-omega.temperature() * negentropy_order_derivative(p.density, omega.alpha())}};
}

/// Omega*(f) + Omega(q) - E_q[f], never negative, with the same derivative.
template <EuclideanOrBox Domain, MultivariateTarget Q>
[[nodiscard]] Loss<AlphaGradient> fenchel_young(const Tsallis& omega, const MultivariateFunctionScore& f,
                                                const Domain& where, const Q& q) {
  Loss<AlphaGradient> loss = cross_omega(omega, f, where, q);
  loss.value -= omega.temperature() * tsallis_entropy(q, omega.alpha());
  if (loss.value < 0) loss.value = 0;
  loss.gradient.alpha += omega.temperature() * negentropy_order_derivative(q, omega.alpha());
  return loss;
}

}  // namespace fenchel
