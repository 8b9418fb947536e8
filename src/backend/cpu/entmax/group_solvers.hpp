#pragma once

#include <cmath>

#include "backend/cpu/compensated_lanes.hpp"
#include "backend/cpu/entmax/row_group.hpp"
#include "backend/cpu/entmax/whole_start.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "backend/entmax/deformed_power.hpp"

/// The normaliser of a vector of rows, whose columns d, scores less the largest one, stand in lanes. A lane
/// that is done keeps its numbers, so that a row does not depend on the others.
namespace fenchel::detail {

/// Columns of a group.
template <class Real>
struct Columns {
  const Real* d;
  index_t count;
};

/// x^m.
template <int m, class Real>
FENCHEL_INLINE Real whole_power(Real x) noexcept {
  if constexpr (m == 0) return 1;
  if constexpr (m == 1) return x;
  if constexpr (m > 1) return whole_power<m - m / 2>(x) * whole_power<m / 2>(x);
}

/// An upper bound of P^am1, which says from where on no score has mass, from a few of the scores. Newton's
/// steps for the m-norm of (level + am1 d)_+, which is convex in the level, come from above; a power m of at
/// least 1/am1 makes it smaller, since no base exceeds one.
template <int m, class Real>
FENCHEL_INLINE Lanes<Real> bound_level(const Real* summits, index_t count, Real am1,
                                       Lanes<Real> top) noexcept {
  constexpr int kSteps = 2;
  Lanes<Real> level = Real(1) - Lanes<Real>{};
  for (int step = 0; step < kSteps; ++step) {
    Lanes<Real> mass{}, slope{};
    for (index_t k = 0; k < count; ++k) {
      const Lanes<Real> above = level + am1 * (load(summits + k * kGroup<Real>) - top);
      Lanes<Real> power, below;
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const Real base = above[j] > 0 ? above[j] : 0;
        below[j] = m == 1 ? Real(above[j] > 0 ? 1 : 0) : whole_power<m - 1>(base);
        power[j] = whole_power<m>(base);
      });
      mass += power;
      slope += below;
    }
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      Real norm = mass[j];
      for (int root = m; root > 1; root /= 2) norm = std::sqrt(norm);
      const Real lower = level[j] - (norm - 1) * whole_power<m - 1>(norm) / slope[j];
      level[j] = lower < level[j] ? lower : level[j];
    });
  }
  return level * (1 + 64 * std::numeric_limits<Real>::epsilon());
}

/// P^am1 as a sum of two, in which no digit next to the threshold is lost.
template <class Real>
struct LevelLanes {
  Lanes<Real> high, low;
  IntLanes<Real> missing;  ///< 0 in the lanes where it was found
};

/// Lanes add up so many columns before the sum is added to the others with what its rounding loses.
template <class Real>
inline constexpr index_t kRun = sizeof(Real) == 4 ? 16 : 1;

/// Of the scores above a threshold: how many, and the sums of what they are above it, and of its squares.
template <class Real>
struct LevelSums {
  Lanes<Real> counts{}, sums{}, squares{};

  template <int q>
  FENCHEL_INLINE void add(Lanes<Real> above) noexcept {
    Lanes<Real> inside, one;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      inside[j] = above[j] > 0 ? above[j] : Real(0);
      one[j] = above[j] > 0 ? Real(1) : Real(0);
    });
    counts += one;
    sums += inside;
    if constexpr (q == 2) squares += inside * inside;
  }
};

/// alpha = 2 and 3/2 as in level_by_turns (closed_form.hpp), from a level not below the root.
template <int q, class Real>
FENCHEL_INLINE LevelLanes<Real> solve_level(const Columns<Real>& columns, Lanes<Real> level) noexcept {
  constexpr int kMostTurns = 12;
  constexpr Real kRounding = 2 * std::numeric_limits<Real>::epsilon();
  Lanes<Real> last_count = -1 - Lanes<Real>{}, low{};
  IntLanes<Real> going;
  for (int turn = 0; turn < kMostTurns; ++turn) {
    Lanes<Real> counts{};
    CompensatedLanes<Real> all, all_squares;
    for (index_t first = 0; first < columns.count; first += kRun<Real>) {
      LevelSums<Real> run;
      for (index_t k = first; k < std::min(columns.count, first + kRun<Real>); ++k)
        run.template add<q>(level + load(columns.d + k * kGroup<Real>) * Real(1.0 / q));
      counts += run.counts;
      all.add(run.sums);
      if constexpr (q == 2) all_squares.add(run.squares);
    }
    const Lanes<Real> sums = all.total();
    const Lanes<Real> lacks = q == 2 ? all_squares.lacks_of_one() : all.lacks_of_one();
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const Real missing = lacks[j];
      const Real discriminant = sums[j] * sums[j] + counts[j] * missing;
      const Real root = std::sqrt(discriminant > 0 ? discriminant : Real(0));
      const Real lack = q == 1 ? missing / counts[j] : missing / (sums[j] + root);
      const bool done = counts[j] == last_count[j] || std::abs(lack) <= kRounding * level[j];
      going[j] = !done;
      low[j] = done ? lack : Real(0);
      level[j] = done ? level[j] : level[j] + lack;
    });
    last_count = counts;
    if (!any_of<Real>(going)) break;
  }
  return {level, low, going};
}

/// Where Newton's iteration for c = P^{-am1} has ended.
template <class Real>
struct RootLanes {
  Lanes<Real> step;      ///< of log P, not yet taken
  IntLanes<Real> going;  ///< 0 in the lanes that have ended
};

/// The sums of E, E^{1-am1} and E^{1-2am1}.
template <class Real>
struct PowerSumLanes {
  CompensatedLanes<Real> value, escort, second;
};

/// The powers of the columns, with y = slope d; E and what else the finish needs are kept.
template <class Real, class Power>
FENCHEL_INLINE PowerSumLanes<Real> evaluate_lanes(const Columns<Real>& columns,
                                                  const typename Power::Argument* slope, const Power& power,
                                                  Real* value, Real* kept) noexcept {
  PowerSumLanes<Real> sums;
  for (index_t first = 0; first < columns.count; first += kRun<Real>) {
    Lanes<Real> value_run{}, escort_run{}, second_run{};
    for (index_t k = first; k < std::min(columns.count, first + kRun<Real>); ++k) {
      const Lanes<Real> d = load(columns.d + k * kGroup<Real>);
      Lanes<Real> e, e_escort, second, rest;
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const Powers<Real> powers = power(slope[j] * d[j]);
        e[j] = powers.value;
        e_escort[j] = powers.escort;
        second[j] = powers.second;
        rest[j] = powers.kept;
      });
      value_run += e;
      escort_run += e_escort;
      second_run += second;
      store(value + k * kGroup<Real>, e);
      store(kept + k * kGroup<Real>, rest);
    }
    sums.value.add(value_run);
    sums.escort.add(escort_run);
    sums.second.add(second_run);
  }
  return sums;
}

/// Newton's and Halley's steps as in row.cpp, for a vector of rows, of which lanes with `there` are solved;
/// `few` says that they are short.
template <class Real, class Power>
FENCHEL_INLINE RootLanes<Real> solve_powers(double am1, const Columns<Real>& columns, const Power& power,
                                            const bool* there, bool few, double* c, Real* value,
                                            Real* kept) noexcept {
  constexpr int kMostSteps = 20;
  constexpr double kRounding = std::is_same_v<Real, typename Power::Argument> ? 4 : 1;
  const auto enough = static_cast<Real>(
      std::max(power.last_step() * std::abs(am1), kRounding * double{std::numeric_limits<Real>::epsilon()}));
  const auto order = static_cast<Real>(am1);
  RootLanes<Real> root{};
  for (int k = 0; k < kMostSteps; ++k) {
    using Argument = typename Power::Argument;
    Argument slope[kGroup<Real>];
    for_each_lane<Real>([&](index_t j)
                            FENCHEL_INLINE_LAMBDA { slope[j] = static_cast<Argument>(am1 * c[j]); });
    const auto sums = evaluate_lanes(columns, slope, power, value, kept);
    const Lanes<Real> sum = sums.value.total(), escort_sum = sums.escort.total(),
                      second = sums.second.total();
    Lanes<Real> excess, newton, change;
    if constexpr (std::is_same_v<Argument, double>) {
      const auto over_one = sums.value.lacks_of_one();
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const double mass = 1 - double{over_one[j]};
        excess[j] = static_cast<Real>(c[j] * exp_element(-am1 * log_element(mass)) - 1);
      });
    } else {
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        excess[j] = static_cast<Real>(c[j] * double{exp_element(-order * log_element(sum[j]))} - 1);
      });
    }
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      newton[j] = newton_change(excess[j], sum[j], escort_sum[j]);
      change[j] = newton[j];
    });
    if (second_is_bounded(am1)) {
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const Real curvature = sum[j] / escort_sum[j] * second[j] / escort_sum[j] - 1;
        const Real lengthening = -excess[j] * (1 - order) / (2 * order) * curvature;
        change[j] = newton[j] / (1 - (lengthening < Real(0.5) ? lengthening : Real(0.5)));
      });
    }
    const bool far = power.moves_far() && !few;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const Real first = newton[j] / order, whole = step_of_log_peak(order, change[j]);
      const bool near = std::abs(newton[j]) <= enough;
      const bool ends = far ? near || third_is_small(first, sum[j], escort_sum[j], second[j]) : near;
      root.step[j] = far ? whole : first;
      root.going[j] = there[j] && !ends;
      const double next = change[j] > -1 ? c[j] / (1 + double{change[j]}) : 1.0;
      const double inside = am1 > 0 ? (next > 1 ? next : 1.0) : (next < 1 ? next : 1.0);
      c[j] = ends ? c[j] : inside;
    });
    if (!any_of<Real>(root.going)) break;
  }
  return root;
}

/// p = E / sum E after the last step, which is not solved for again. It is left in `value`, and the sums are
/// returned.
template <class Real, class Power>
FENCHEL_INLINE Lanes<Real> finish_lanes(index_t count, const Power& power, Lanes<Real> step, Real* value,
                                        const Real* kept) noexcept {
  CompensatedLanes<Real> sum;
  for (index_t first = 0; first < count; first += kRun<Real>) {
    Lanes<Real> run{};
    for (index_t k = first; k < std::min(count, first + kRun<Real>); ++k) {
      Real* const column = value + k * kGroup<Real>;
      const Lanes<Real> e = load(column), rest = load(kept + k * kGroup<Real>);
      Lanes<Real> p;
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const Real moved = power.moved(e[j], rest[j], step[j]);
        p[j] = e[j] > 0 && moved > 0 ? moved : 0;
      });
      run += p;
      store(column, p);
    }
    sum.add(run);
  }
  const Lanes<Real> total = sum.total();
  const Lanes<Real> scale = 1 / total;
  for (index_t k = 0; k < count; ++k) {
    Real* const column = value + k * kGroup<Real>;
    store(column, load(column) * scale);
  }
  return total;
}

}  // namespace fenchel::detail
