#pragma once

#include "fenchel/core/check.hpp"

namespace fenchel::detail {

/// What the quantiles below ask of a density.
struct Centre {
  double at;
  [[nodiscard]] double mu() const { return at; }
};

/// Quantiles from below and from above of a density that is symmetric about p.mu(). tail_distance(u) is the
/// x >= 0 with P(X > mu + x) = u, for u <= 1/2.
template <class P, class TailDistance>
double symmetric_quantile(const P& p, double u, TailDistance tail_distance) {
  checked_probability("quantile", "u", u);
  return u <= 0.5 ? p.mu() - tail_distance(u) : p.mu() + tail_distance(1 - u);
}
template <class P, class TailDistance>
double symmetric_survival_quantile(const P& p, double u, TailDistance tail_distance) {
  checked_probability("survival_quantile", "u", u);
  return u <= 0.5 ? p.mu() + tail_distance(u) : p.mu() - tail_distance(1 - u);
}

}  // namespace fenchel::detail
