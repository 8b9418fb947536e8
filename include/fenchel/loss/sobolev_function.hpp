#pragma once

/// The losses of `Sobolev` for any score on the line or an interval.

#include "fenchel/distribution/line/roughness.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/gamma_loss.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/sobolev_function.hpp"

/// Fenchel-Young losses of Sobolev for scores without closed form [SCD22, Sections 3.1, 7; docs/math.md
/// 6.2], for any target with expectation(q, f), tsallis_entropy(q, order) and roughness(q). They throw
/// what predict and expectation throw.
namespace fenchel {

/// Omega*(f) - E_q[f], with its derivatives with respect to gamma, -(T/2) int p'^2, and, for a LinearScore
/// or ParametricScore, theta: E_p[df / dtheta] - E_q[df / dtheta] for the prediction p. +infinity where q
/// charges what f masks.
template <CallableScore Score, LineOrInterval Domain, LossTarget Target>
[[nodiscard]] auto cross_omega(const Sobolev& omega, const Score& f, const Domain& domain, const Target& q) {
  const Interval range = detail::as_interval(domain);
  const auto p = detail::predict_numeric(omega, f, range, detail::kLossAccuracy);
  const double value = detail::conjugate(omega, p, f) - detail::expected_score(q, f, range);
  return detail::make_gamma_loss(value, -omega.temperature() / 2 * p.roughness, f, p.density, q);
}
template <UnimodalEvenScore Score, LossTarget Target>
[[nodiscard]] auto cross_omega(const Sobolev& omega, const Score& f, Line domain, const Target& q) {
  const auto p = detail::predict_even(omega, f);
  const double value =
      detail::conjugate(omega, p, f) - detail::expected_score(q, f, detail::as_interval(domain));
  return detail::make_gamma_loss(value, -omega.temperature() / 2 * p.roughness, f, p.density, q);
}

namespace detail {

template <class Q>
[[nodiscard]] double roughness_within(const Interval& domain, const Q& q) {
  if constexpr (requires { roughness(q, domain); }) return roughness(q, domain);
  return roughness(q);
}

}  // namespace detail

/// Omega*(f) + Omega(q) - E_q[f], never negative, with the same derivatives. A NumericDensity may jump at the
/// ends of the domain.
template <class Score, class Domain, LossTarget Target>
requires requires(const Sobolev& omega, const Score& f, const Domain& domain, const Target& q) {
  roughness(q);
  requires CallableScore<Score> || UnimodalEvenScore<Score>;
  cross_omega(omega, f, domain, q);
}
[[nodiscard]] auto fenchel_young(const Sobolev& omega, const Score& f, const Domain& domain,
                                 const Target& q) {
  return detail::add_omega(cross_omega(omega, f, domain, q), omega,
                           detail::roughness_within(detail::as_interval(domain), q) / 2, q);
}

}  // namespace fenchel
