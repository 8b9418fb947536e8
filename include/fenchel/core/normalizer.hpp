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

/// Turns scores into densities with sum_i w_i p_i = 1, in place. `values` holds f - max f: at least one 0,
/// none positive, -inf for a density of 0. Empty weights mean ones; the maximum must have a positive weight.
/// For am1 <= 1 Newton's iteration on log P, safeguarded by bisection; past that on the smallest density of
/// the support, in which the mass is convex with slope at least one; where weights lie too far apart for
/// that, on the logarithm of the density from which all others differ with one sign. At am1 = infinity no
/// density exceeds one: it is one from the largest score down while there is mass (the counting measure:
/// uniform over the maxima), and uniform where the weights do not reach one.
FENCHEL_EXPORT Normalization normalize(double am1, std::span<double> values,
                                       std::span<const double> weights = {}) noexcept;

}  // namespace fenchel
