#pragma once

#include <algorithm>
#include <cmath>
#include <concepts>
#include <string>
#include <utility>
#include <vector>

#include "cli/families/family.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/domain/integers.hpp"
#include "fenchel/domain/interval.hpp"
#include "plot/chart.hpp"

/// What all pictures of a distribution share.
namespace fenchel::cli {

/// "beta-gaussian: alpha = 2, mu = 0, sigma2 = 1" of a complete family, in Greek letters; its interval is the
/// axis.
[[nodiscard]] std::string title_of(const FamilyOptions& family);

[[nodiscard]] inline std::vector<Interval> pieces(const Interval& support) { return {support}; }
[[nodiscard]] inline std::vector<Interval> pieces(const std::vector<Interval>& support) { return support; }

/// What an axis shows of a density: the support and a little beside it, or all but the tails.
template <class P>
[[nodiscard]] plot::Range view(const P& p) {
  constexpr double kTail = 0.002, kMargin = 0.15;
  const std::vector<Interval> support_pieces = pieces(support(p));
  const double first = support_pieces.front().lower(), last = support_pieces.back().upper();
  const double low = std::isfinite(first) ? first : quantile(p, kTail),
               high = std::isfinite(last) ? last : survival_quantile(p, kTail),
               margin = kMargin * (high - low);
  return {low - margin, high + margin};
}

/// The support and one integer beside it on each side, or all but the tails.
template <class P>
requires std::same_as<typename P::value_type, index_t>
[[nodiscard]] plot::Range view(const P& p) {
  constexpr double kTail = 1e-3;
  return {static_cast<double>(std::max(support(p).first, quantile(p, kTail)) - 1),
          static_cast<double>(std::min(support(p).last, survival_quantile(p, kTail)) + 1)};
}
/// Those in a range. Throws UsageError where they are more than a picture tells apart.
[[nodiscard]] IntegerRange integers_in(const plot::Range& range);

/// Shades where the density is positive, unless that is everywhere.
template <class P>
void shade_support(plot::Chart& chart, const P& p) {
  bool named = false;
  for (const Interval& piece : pieces(support(p))) {
    if (std::isinf(piece.lower()) && std::isinf(piece.upper())) continue;
    chart.shade(std::exchange(named, true) ? "" : "support", {piece.lower(), piece.upper()}, {.colour = 1});
  }
}

}  // namespace fenchel::cli
