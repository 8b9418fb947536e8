#pragma once

#include <cmath>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Half of a rule for an even weight of mass 1: nodes +-node_i, each of weight_i.
template <index_t kPairs, class Real>
struct EvenRule {
  Real node[kPairs], weight[kPairs];
};

/// Gauss's rule of 2 kPairs nodes for the polynomials of x p_{k-1} = next(k) p_k + next(k-1) p_{k-2}: their
/// roots in (0, reach), each found by bisection where as many signs change as there are roots above it.
template <index_t kPairs, class Real, class Next>
[[nodiscard]] EvenRule<kPairs, Real> even_gauss_rule(double reach, const Next& next) noexcept {
  constexpr index_t kSize = 2 * kPairs;
  double ahead[kSize + 1] = {};
  for (index_t k = 1; k <= kSize; ++k) ahead[k] = next(static_cast<double>(k));
  // how many roots are above x, and the sum of the squares of the polynomials before the last
  const auto roots_above = [&](double x, double& squares) {
    double before = 0, value = 1;
    index_t changes = 0;
    squares = 0;
    for (index_t k = 1; k <= kSize; ++k) {
      squares += value * value;
      const double after = (x * value - ahead[k - 1] * before) / ahead[k];
      changes += (after < 0) != (value < 0) ? 1 : 0;
      before = value;
      value = after;
    }
    return changes;
  };
  EvenRule<kPairs, Real> rule{};
  for (index_t i = 0; i < kPairs; ++i) {
    double lower = 0, upper = reach, squares = 0;
    for (int step = 0; step < 54; ++step) {
      const double middle = (lower + upper) / 2;
      (roots_above(middle, squares) > i ? lower : upper) = middle;
    }
    const double root = (lower + upper) / 2;
    roots_above(root, squares);
    rule.node[i] = static_cast<Real>(root);
    rule.weight[i] = static_cast<Real>(1 / squares);
  }
  return rule;
}

/// For the weight (1 - x^2)^s on [-1, 1], s > -1.
template <index_t kPairs, class Real>
[[nodiscard]] EvenRule<kPairs, Real> gauss_gegenbauer(double s) noexcept {
  return even_gauss_rule<kPairs, Real>(1, [s](double k) {
    return k == 1 ? std::sqrt(1 / (2 * s + 3))
                  : std::sqrt(k * (k + 2 * s) / ((2 * k + 2 * s - 1) * (2 * k + 2 * s + 1)));
  });
}

/// For N(0, 1).
template <index_t kPairs, class Real>
[[nodiscard]] EvenRule<kPairs, Real> gauss_hermite() noexcept {
  return even_gauss_rule<kPairs, Real>(2 * std::sqrt(2.0 * kPairs + 1),
                                       [](double k) { return std::sqrt(k); });
}

}  // namespace fenchel::detail
