#pragma once

/// `fit_groups`: a fit to each group of rows, with how good it is.

#include <concepts>
#include <limits>
#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "fenchel/core/error.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/goodness/goodness.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"
#include "fenchel/estimate/statistics/group_statistics.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"

namespace fenchel {

/// The fit to one group.
template <class Fitted>
struct GroupFit {
  double group;
  double weight;              ///< of its rows
  std::optional<Fitted> fit;  ///< none where no member of the family fits the group
  Goodness goodness;          ///< of the fit
  std::string failure;        ///< why there is none, else empty
};

namespace detail {

template <class F, class S>
[[nodiscard]] auto fit_group(const F& fit, double group, const S& statistics) {
  GroupFit<std::remove_cvref_t<decltype(fit(statistics))>> found{group, statistics.weight(), {}, {}, ""};
  try {
    found.fit = fit(statistics);
  } catch (const std::domain_error& error) {
    found.failure = error.what();
  } catch (const ConvergenceError& error) {
    found.failure = error.what();
  }
  return found;
}

}  // namespace detail

/// fit(LineMoments) of each group of data, whose rows are a value and the number of a group: one pass for all
/// fits, and one for how good they are. In order of the groups. Throws what collect does, and
/// std::domain_error for more than kMostGroups groups.
template <std::invocable<const LineMoments&> F>
[[nodiscard]] auto fit_groups(const F& fit, const Data& data) {
  const auto moments =
      collect(data, GroupStatistics<LineMoments>([](double) { return LineMoments(); })).groups();
  std::vector<decltype(detail::fit_group(fit, 0, LineMoments()))> found;
  std::map<double, RowScorer> scorers;
  for (const auto& [group, of_group] : moments) {
    found.push_back(detail::fit_group(fit, group, of_group));
    const auto& made = found.back().fit;
    scorers[group] = made ? row_scorer(made->distribution) : [](std::span<const double>) {
      constexpr double kNone = std::numeric_limits<double>::quiet_NaN();
      return RowScore{kNone, kNone, kNone, kNone};
    };
  }
  const auto scores = collect(data, GroupStatistics<FitScores>(
                                        [&scorers](double group) { return FitScores(scorers.at(group), 1); }))
                          .groups();
  for (auto& of_group : found) {
    const FitScores& of = scores.at(of_group.group);
    const ProbabilityCells& cells = of.probabilities();
    if (of_group.fit)
      of_group.goodness = detail::goodness_of(detail::summary(*of_group.fit), of,
                                              {cells.kolmogorov_smirnov(), cells.anderson_darling()});
  }
  return found;
}

/// fit(CountHistogram) of each group, in one pass.
template <std::invocable<const CountHistogram&> F>
[[nodiscard]] auto fit_groups(const F& fit, const Data& data) {
  const auto counts =
      collect(data, GroupStatistics<CountHistogram>([](double) { return CountHistogram(); })).groups();
  std::vector<decltype(detail::fit_group(fit, 0, CountHistogram()))> found;
  for (const auto& [group, of_group] : counts) {
    found.push_back(detail::fit_group(fit, group, of_group));
    if (found.back().fit) found.back().goodness = goodness(*found.back().fit, of_group);
  }
  return found;
}

}  // namespace fenchel
