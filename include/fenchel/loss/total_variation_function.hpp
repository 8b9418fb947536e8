#pragma once

/// The losses of `TotalVariation` for any score on the line or an interval.

#include "fenchel/distribution/line/total_variation.hpp"
#include "fenchel/loss/function.hpp"
#include "fenchel/loss/gamma_loss.hpp"
#include "fenchel/loss/loss.hpp"
#include "fenchel/predict/total_variation_function.hpp"

/// Fenchel-Young losses of TotalVariation for scores without closed form [SCD22, Sections 3.1, 7;
/// docs/math.md 6.1], for any target with expectation(q, f), tsallis_entropy(q, order) and
/// total_variation(q). They throw what predict and expectation throw.
namespace fenchel {

/// Omega*(f) - E_q[f], with its derivatives with respect to gamma, -T TV(p), and, for a LinearScore or
/// ParametricScore, theta: E_p[df / dtheta] - E_q[df / dtheta] for the prediction p. +infinity where q
/// charges what f masks.
template <CallableScore Score, LineOrInterval Domain, LossTarget Target>
[[nodiscard]] auto cross_omega(const TotalVariation& omega, const Score& f, const Domain& domain,
                               const Target& q) {
  const Interval range = detail::as_interval(domain);
  const auto p = detail::predict_numeric(omega, f, range, detail::kLossAccuracy);
  const double value = detail::conjugate(omega, p) - detail::expected_score(q, f, range);
  return detail::make_gamma_loss(value, -omega.temperature() * p.total_variation, f, p.density, q);
}
template <UnimodalEvenScore Score, LossTarget Target>
[[nodiscard]] auto cross_omega(const TotalVariation& omega, const Score& f, Line domain, const Target& q) {
  const auto p = detail::predict_even(omega, f);
  const double value =
      detail::conjugate(omega, p) - detail::expected_score(q, f, detail::as_interval(domain));
  return detail::make_gamma_loss(value, -omega.temperature() * p.total_variation, f, p.density, q);
}

/// Omega*(f) + Omega(q) - E_q[f], never negative, with the same derivatives. q may jump at the ends of the
/// domain.
template <class Score, class Domain, LossTarget Target>
requires requires(const TotalVariation& omega, const Score& f, const Domain& domain, const Target& q) {
  total_variation(q);
  requires CallableScore<Score> || UnimodalEvenScore<Score>;
  cross_omega(omega, f, domain, q);
}
[[nodiscard]] auto fenchel_young(const TotalVariation& omega, const Score& f, const Domain& domain,
                                 const Target& q) {
  return detail::add_omega(cross_omega(omega, f, domain, q), omega,
                           detail::total_variation_within(detail::as_interval(domain), q), q);
}

}  // namespace fenchel
