#pragma once

#include <cmath>

#include "fenchel/core/config.hpp"

namespace fenchel::detail {

/// log (q^am1 + x) / am1 from log q, x >= 0: neither a power that overflows nor one that underflows hurts.
FENCHEL_HD inline double log_power_sum(double am1, double log_q, double x) noexcept {
  const double power = std::exp(-am1 * std::abs(log_q));
  return log_q > 0 ? log_q + std::log1p(x * power) / am1 : std::log(power + x) / am1;
}

/// Densities of alpha > 2 from the smallest one of the support, q: p^am1 = q^am1 + am1 (d - d_q), where dp/dq
/// = (q/p)^{am1 - 1} lies in [0, 1]. Newton's iteration for q begins above the root, at the inverse of the
/// support's weight, and never falls below it.
struct SmallestDensity {
  double am1, q, log_q = std::log(q);

  /// log p, `above` = d - d_q.
  [[nodiscard]] FENCHEL_HD double log_density(double above) const noexcept {
    return log_power_sum(am1, log_q, am1 * above);
  }
  /// dp/dq of a density.
  [[nodiscard]] FENCHEL_HD double slope(double log_p) const noexcept {
    return std::exp((am1 - 1) * (log_q - log_p));
  }
  /// Newton's step from the mass less one and its slope; true where it was no more than `rounding`, the last.
  FENCHEL_HD bool advance(double excess, double mass_slope, double rounding) noexcept {
    const double before = q, next = before - excess / mass_slope;
    q = next > 0 ? next : 0.0;
    log_q = std::log(q);
    return std::abs(q - before) <= rounding * before || q == 0;
  }
};

}  // namespace fenchel::detail
