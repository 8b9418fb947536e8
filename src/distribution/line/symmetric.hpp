#pragma once

#include <algorithm>
#include <cmath>

#include "fenchel/core/check.hpp"
#include "fenchel/domain/interval.hpp"

namespace fenchel::detail {

/// Quantiles from below and from above of a density that is symmetric about mu: never outside of the support,
/// its ends for the levels 0 and 1, and mu for 1/2. tail_distance(u) is the x >= 0 with P(X > mu + x) = u,
/// for 0 < u < 1/2.
template <class TailDistance>
double symmetric_quantile(double mu, const Interval& support, double u, TailDistance tail_distance) {
  checked_probability("quantile", "u", u);
  if (u == 0) return support.lower();
  if (u == 1) return support.upper();
  if (u == 0.5) return mu;
  const double t = u <= 0.5 ? mu - tail_distance(u) : mu + tail_distance(1 - u);
  return std::clamp(t, support.lower(), support.upper());
}
template <class TailDistance>
double symmetric_survival_quantile(double mu, const Interval& support, double u, TailDistance tail_distance) {
  checked_probability("survival_quantile", "u", u);
  if (u == 0) return support.upper();
  if (u == 1) return support.lower();
  if (u == 0.5) return mu;
  const double t = u <= 0.5 ? mu + tail_distance(u) : mu - tail_distance(1 - u);
  return std::clamp(t, support.lower(), support.upper());
}

/// sqrt(variance), or `scaled` where the variance leaves the range of normal doubles.
inline double deviation(double variance, double scaled) noexcept {
  return std::isnormal(variance) ? std::sqrt(variance) : scaled;
}

}  // namespace fenchel::detail
