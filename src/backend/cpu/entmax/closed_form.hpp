#pragma once

#include <cmath>

#include "backend/cpu/row_lanes.hpp"
#include "fenchel/core/normalizer.hpp"

/// alpha = 2 and 3/2 in closed form on the support: with q = 1/am1 and x = d/q <= 0, sum (P^am1 + x)^q = 1 is
/// linear or quadratic in P^am1. What is left is to find the support.
namespace fenchel::detail {

/// P^am1 as a sum: where the support is large, the rounding of one number would be felt in the mass.
struct Level {
  double high, low;
  bool found;
};

/// The support by turns: solve on those above the threshold for what the level lacks, and again while the
/// threshold passes over some. Not found where that goes round in circles.
template <int q>
FENCHEL_INLINE Level level_by_turns(const double* d, index_t n) noexcept {
  constexpr int kMostTurns = 12;
  double level = 1, last_count = -1;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    RunningSum<double> counts, sums, squares;
    for (index_t i = 0; i < n; i += kLanes<double>) {
      const Lanes<double> above = level + load(d + i) / q;
      Lanes<double> inside, one;
      for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        inside[j] = above[j] > 0 ? above[j] : 0.0;
        one[j] = above[j] > 0 ? 1.0 : 0.0;
      });
      counts.add(one);
      sums.add(inside);
      if constexpr (q == 2) squares.add(inside * inside);
    }
    const double count = counts.total(), sum = sums.total();
    double lack = (1 - sum) / count;
    if constexpr (q == 2) {
      const double missing = 1 - squares.total(), discriminant = sum * sum + count * missing;
      if (turn == 0 || discriminant < 0) {
        // Far from the root, where some above the threshold will not stay there: Newton's step, as in solve.
        const double norm = std::sqrt(1 - missing);
        level += norm * (1 - norm) / sum;
        continue;
      }
      lack = missing / (sum + std::sqrt(discriminant));
    }
    if (count == last_count) return {level, lack, true};
    level += lack;
    last_count = count;
  }
  return {0, 0, false};
}

/// The same of few scores, with no turns for the processor to guess: x_i is in the support where the mass
/// above it, sum_j (x_j - x_i)_+^q, is less than 1. For rows in float: the level is one double.
inline constexpr index_t kFew = 32;
template <int q>
FENCHEL_INLINE Level level_of_few(const double* d, index_t n) noexcept {
  Lanes<double> counts{}, sums{}, squares{};
  for (index_t i = 0; i < n; i += kLanes<double>) {
    const Lanes<double> x = load(d + i) / q;
    Lanes<double> mass{}, one, above;
    for (index_t j = 0; j < n; ++j) {
      const Lanes<double> higher = d[j] / q - x;
      for_each_lane<double>([&](index_t k) FENCHEL_INLINE_LAMBDA {
        const double height = higher[k] > 0 ? higher[k] : 0.0;
        mass[k] += q == 1 ? height : height * height;
      });
    }
    for_each_lane<double>([&](index_t k) FENCHEL_INLINE_LAMBDA {
      one[k] = mass[k] < 1 ? 1.0 : 0.0;
      above[k] = mass[k] < 1 ? 1 + x[k] : 0.0;
    });
    counts += one;
    sums += above;
    if constexpr (q == 2) squares += above * above;
  }
  const double count = sum_of_doubles(counts), sum = sum_of_doubles(sums);
  if constexpr (q == 1) return {1 + (1 - sum) / count, 0, true};
  const double missing = 1 - sum_of_doubles(squares);
  return {1 + missing / (sum + std::sqrt(sum * sum + count * missing)), 0, true};
}

/// p = (level + d/q)_+^q in place of d.
template <int q>
FENCHEL_INLINE Normalization write_exact(Level level, double* d, index_t n) noexcept {
  for (index_t i = 0; i < n; i += kLanes<double>) {
    const Lanes<double> above = level.high + load(d + i) / q;
    Lanes<double> p;
    for_each_lane<double>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const double base = above[j] > 0 && above[j] + level.low > 0 ? above[j] + level.low : 0.0;
      p[j] = q == 1 ? base : base * base;
    });
    store(d + i, p);
  }
  return {q * (1 - level.high - level.low), -q * (level.high + level.low)};
}

}  // namespace fenchel::detail
