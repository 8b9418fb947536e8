#pragma once

#include "fenchel/core/check.hpp"

namespace fenchel::detail {

/// Quantiles from below and from above of a density that is symmetric about mu. tail_distance(u) is the x >=
/// 0 with P(X > mu + x) = u, for u <= 1/2.
template <class TailDistance>
double symmetric_quantile(double mu, double u, TailDistance tail_distance) {
  checked_probability("quantile", "u", u);
  return u <= 0.5 ? mu - tail_distance(u) : mu + tail_distance(1 - u);
}
template <class TailDistance>
double symmetric_survival_quantile(double mu, double u, TailDistance tail_distance) {
  checked_probability("survival_quantile", "u", u);
  return u <= 0.5 ? mu + tail_distance(u) : mu - tail_distance(1 - u);
}

}  // namespace fenchel::detail
