#pragma once

/// The normaliser of one score on a finite measure, by which all maps with alpha are computed.

#include <cmath>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"

/// The normaliser A of p = exp_{2-alpha}(f - A) on a finite measure [SCD22, Section 4.2], found through the
/// largest density P = p(argmax f): with d = f - max f and c = P^{-am1},
///   p = P exp_{2-alpha}(c d),   A = max f - (P^am1 - 1) / am1,   tau = A - 1/am1 = max f - 1 / (am1 c).
/// P keeps its relative accuracy where A and tau do not: at alpha = 2 on n equal scores P = 1/n, A = max f +
/// 1 - 1/n.
namespace fenchel {

/// The normaliser and the threshold, both less the largest score.
struct Normalization {
  double offset;     ///< A - max f
  double threshold;  ///< tau - max f; -inf at alpha = 1
};

FENCHEL_HD inline Normalization normalization_from_peak(double am1, double log_peak) noexcept {
  const double power = std::exp(am1 * log_peak);  // P^am1
  const double threshold = am1 == 0 ? -kInfinity : -power / am1;
  return {0.0 - deformed_log_of_exp(am1, log_peak), threshold};
}

/// One Newton step for log P, alpha <= 2, from S = sum E and R = sum E^{1 - am1}, E = exp_{2-alpha}(c d). It
/// is Newton's step in A for log_{2-alpha}(P S), which is convex in A (Minkowski, in both directions of the
/// exponent 1/am1), so from P too large it never overshoots; it is exact for equal scores and for alpha = 1.
/// docs/math.md 2.
FENCHEL_HD inline double next_log_peak(double am1, double log_peak, double sum, double escort_sum) noexcept {
  const double log_mass = log_peak + std::log(sum);
  return log_peak + log_deformed_exp(am1, sum / escort_sum * -deformed_log_of_exp(-am1, log_mass));
}

/// log (q^am1 + x) / am1 from log q, x >= 0: neither a power that overflows nor one that underflows hurts.
/// For am1 > 1, where densities are found from the smallest q of the support: p^am1 = q^am1 + am1 (d - d_q).
FENCHEL_HD inline double log_power_sum(double am1, double log_q, double x) noexcept {
  const double power = std::exp(-am1 * std::abs(log_q));
  return log_q > 0 ? log_q + std::log1p(x * power) / am1 : std::log(power + x) / am1;
}

/// Turns scores into densities with sum_i w_i p_i = 1, in place. `values` holds f - max f: at least one 0,
/// none positive, -inf for a density of 0. Empty weights mean ones; the maximum must have a positive weight.
/// For am1 <= 1 Newton's iteration on log P, safeguarded by bisection; past that on the smallest density of
/// the support, in which the mass is convex with slope at least one; am1 = infinity is uniform over the
/// maxima.
FENCHEL_EXPORT Normalization normalize(double am1, std::span<double> values,
                                       std::span<const double> weights = {}) noexcept;

}  // namespace fenchel
