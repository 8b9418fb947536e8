#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <span>
#include <vector>

#include "core/quadrature/gauss_kronrod.hpp"

/// A second rule beside the first one. All lists of panels are sorted and without overlap.
namespace fenchel::detail {

/// The panels between points inside of others, cut also at those ends of others that are `kept`. The points
/// are not where halving would put them: a step that hides beside an end does not hide again.
template <class Kept>
[[nodiscard]] std::vector<Panel> shifted(std::span<const Panel> panels, Kept kept) {
  constexpr double kGolden = 0.381966011250105151795;
  std::vector<Panel> made;
  double from = 0;
  const auto cut = [&](double t) {
    if (from < t) made.push_back({from, t, 0, 0, 0});
    from = t;
  };
  for (std::size_t i = 0; i < panels.size(); ++i) {
    const Panel& here = panels[i];
    if (i == 0 || panels[i - 1].upper != here.lower) from = here.lower;
    if (kept(here.lower)) cut(here.lower);
    cut(here.lower + kGolden * (here.upper - here.lower));
    if (i + 1 == panels.size() || panels[i + 1].lower != here.upper) cut(here.upper);
  }
  return made;
}

/// The panels `a` cut at the ends of the panels `b`.
[[nodiscard]] inline std::vector<Panel> merged(std::span<const Panel> a, std::span<const Panel> b) {
  std::vector<Panel> made;
  for (const Panel& part : a) {
    double from = part.lower;
    auto next =
        std::upper_bound(b.begin(), b.end(), from, [](double t, const Panel& x) { return t < x.lower; });
    for (; next != b.end() && next->lower < part.upper; ++next) {
      made.push_back({from, next->lower, 0, 0, 0});
      from = next->lower;
    }
    made.push_back({from, part.upper, 0, 0, 0});
  }
  return made;
}

/// `sum`, where a second rule on shifted panels agrees to it up to accuracy times the integral of |f|; else
/// the integral from the panels of both on, and so forth, while that converges. The error is at least the
/// difference.
template <class Sum, class Integrate, class Kept>
[[nodiscard]] Sum agreed(Sum sum, double accuracy, Integrate integrate, Kept kept) {
  constexpr int kMostRounds = 6;
  for (int round = 1;; ++round) {
    const Sum second = integrate(shifted(sum.panels, kept));
    const double difference = std::abs(sum.value - second.value);
    const bool agree = difference <= accuracy * std::max(sum.scale, second.scale);
    if (agree || !sum.converged || std::isnan(difference) || round == kMostRounds) {
      sum.error = std::max(sum.error, difference);
      sum.converged = sum.converged && agree;
      return sum;
    }
    sum = integrate(merged(sum.panels, second.panels));
  }
}

}  // namespace fenchel::detail
