#pragma once

#include <cmath>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// A straight piece of a boundary of the tube: up to the end of node end - 1.
struct StringPiece {
  index_t end;
  double length, rise, slope;
};

/// Memory for one string through n nodes: n pieces each.
struct StringScratch {
  StringPiece *upper, *lower;
};

/// x = argmin (1/2) sum_i w(i) (x_i - y(i))^2 + sum_k cap(k) |x_{k+1} - x_k| for n >= 1 nodes, w > 0, cap >=
/// 0: the slopes of the shortest string in the tube of half width cap around the sums of w y, tied at both
/// ends [P. L. Davies, A. Kovac, Ann. Statist. 29 (2001)]. Calls block(begin, end, x) from left to right.
template <class Score, class Weight, class Cap, class Block>
void taut_string(index_t n, const Score& y, const Weight& w, const Cap& cap, const StringScratch& scratch,
                 const Block& block) {
  // From where the string is fixed, the convex minorant of the tube's top and the concave majorant of its
  // bottom are kept; where they would cross, the string bends. A piece enters and leaves once: time O(n).
  // Pieces carry their own rise, not sums from the start, so that rounding stays that of one block; where a
  // bend leaves next to nothing of one, it is summed anew.
  constexpr double kCancels = 1. / 16;
  StringPiece *upper = scratch.upper, *lower = scratch.lower;  // their first pieces
  index_t uppers = 0, lowers = 0, fixed = 0;
  const auto merge_last_two = [](StringPiece* pieces, index_t& count) {
    StringPiece &into = pieces[count - 2], &from = pieces[count - 1];
    const double length = into.length + from.length, rise = into.rise + from.rise;
    into = {from.end, length, rise, rise / length};
    --count;
  };
  const auto half_width = [&](index_t end) { return end < n ? cap(end - 1) : 0.0; };
  const auto bend_at = [&](StringPiece*& bent, index_t& count, StringPiece& other, double sign) {
    const StringPiece before = other;
    const index_t passed = bent->end - fixed;
    block(fixed, bent->end, bent->slope);
    fixed = bent->end;
    other.length -= bent->length;
    other.rise -= bent->rise;
    if (other.length < kCancels * before.length ||
        (std::abs(other.rise) < kCancels * std::abs(before.rise) && other.end - fixed <= 8 * passed)) {
      other.length = 0;
      other.rise = sign * (half_width(other.end) + half_width(fixed));
      for (index_t i = fixed; i < other.end; ++i) {
        other.length += w(i);
        other.rise += w(i) * y(i);
      }
    }
    other.slope = other.rise / other.length;
    ++bent;
    --count;
  };
  double last_cap = 0;
  for (index_t k = 0; k < n; ++k) {
    const double next_cap = k + 1 < n ? cap(k) : 0.0, widening = next_cap - last_cap;
    const double length = w(k), rise = length * y(k);
    last_cap = next_cap;
    upper[uppers++] = {k + 1, length, rise + widening, (rise + widening) / length};
    lower[lowers++] = {k + 1, length, rise - widening, (rise - widening) / length};
    while (uppers > 1 && upper[uppers - 2].slope >= upper[uppers - 1].slope) merge_last_two(upper, uppers);
    while (lowers > 1 && lower[lowers - 2].slope <= lower[lowers - 1].slope) merge_last_two(lower, lowers);
    while (uppers == 1 && lowers > 1 && upper->slope < lower->slope) bend_at(lower, lowers, *upper, 1.0);
    while (lowers == 1 && uppers > 1 && lower->slope > upper->slope) bend_at(upper, uppers, *lower, -1.0);
  }
  while (uppers > 1) merge_last_two(upper, uppers);  // here all slopes agree, but for rounding
  block(fixed, n, upper->slope);
}

}  // namespace fenchel::detail
