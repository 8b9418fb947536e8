#pragma once

#include <cmath>
#include <numbers>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// A rule for the unit interval: sum_i weight_i f(left_i), with right_i = 1 - left_i, which is not rounded
/// away where it is small.
template <index_t kSize>
struct UnitRule {
  double left[kSize], right[kSize], weight[kSize];
};

/// Gauss-Legendre: exact for polynomials of degree 2 kSize - 1. Roots of P_n by Newton's method from
/// Tricomi's estimate.
template <index_t kSize>
[[nodiscard]] UnitRule<kSize> gauss_legendre() noexcept {
  UnitRule<kSize> rule{};
  for (index_t i = 0; i < kSize; ++i) {
    double x = std::cos(std::numbers::pi * (static_cast<double>(i) + 0.75) / (kSize + 0.5)), slope = 1;
    for (int step = 0; step < 6; ++step) {
      double before = 1, value = x;
      for (index_t k = 2; k <= kSize; ++k) {
        const auto n = static_cast<double>(k);
        const double next = ((2 * n - 1) * x * value - (n - 1) * before) / n;
        before = value;
        value = next;
      }
      slope = kSize * (before - x * value) / ((1 - x) * (1 + x));
      x -= value / slope;
    }
    rule.left[i] = (1 - x) / 2;
    rule.right[i] = (1 + x) / 2;
    rule.weight[i] = 1 / ((1 - x) * (1 + x) * slope * slope);
  }
  return rule;
}

/// Gauss-Legendre in the variable v of h(v) = v^4 (35 - 84 v + 70 v^2 - 20 v^3), h' = 140 v^3 (1 - v)^3: the
/// powers t^s and (1 - t)^s at the ends, s >= 0, become so flat that the rule does not notice them.
template <index_t kSize>
[[nodiscard]] UnitRule<kSize> flat_ended_rule() noexcept {
  UnitRule<kSize> rule = gauss_legendre<kSize>();
  const auto h = [](double v) { return v * v * v * v * (35 + v * (-84 + v * (70 - 20 * v))); };
  for (index_t i = 0; i < kSize; ++i) {
    const double v = rule.left[i], w = rule.right[i], vw = v * w;
    rule.weight[i] *= 140 * vw * vw * vw;
    rule.left[i] = h(v);
    rule.right[i] = h(w);
  }
  return rule;
}

}  // namespace fenchel::detail
