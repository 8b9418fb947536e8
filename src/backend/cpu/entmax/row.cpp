#include "backend/cpu/entmax/row.hpp"

#include <cmath>
#include <type_traits>

#include "backend/cpu/entmax/closed_form.hpp"
#include "backend/cpu/entmax/whole_start.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "backend/entmax/deformed_power.hpp"
#include "backend/entmax/newton.hpp"
#include "fenchel/core/infinity.hpp"

/// One row of entmax: find the maximum; keep the few scores that can be in the support (z > max - 1/am1);
/// solve on those; write zeros and the kept. Where a large part of the row can be in the support, work on the
/// row itself.
namespace fenchel::detail {
namespace {

template <class Real>
constexpr index_t kBlock = 8 * kLanes<Real>;
static_assert(kBlock<float> <= kPlaceBlock);

/// Some of the row's largest scores, distinct entries: of a quarter of the blocks, the maximum in each lane.
template <class Real>
struct Summits {
  static constexpr index_t kQuarters = 4;
  Real values[kQuarters * kLanes<Real>];
};

template <class Real>
struct RowTop {
  Real top;
  bool valid;  ///< no NaN, no +inf, and a finite score
};

/// The maximum, the maxima by lane of each block, and the summits.
template <class Real>
FENCHEL_INLINE RowTop<Real> find_top(const Real* z, index_t n, Real* tops, Summits<Real>& summits) noexcept {
  const Lanes<Real> lowest = -Real(kInfinity) - Lanes<Real>{};
  for (index_t k = 0; k < Summits<Real>::kQuarters; ++k) store(summits.values + k * kLanes<Real>, lowest);
  IntLanes<Real> bad{};
  for (index_t first = 0, block = 0; first < n; first += kBlock<Real>, ++block) {
    Lanes<Real> block_top = lowest;
    IntLanes<Real> block_bad{};
    for_each_vector<Real>(std::min(kBlock<Real>, n - first),
                          [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
                            const Lanes<Real> x = load_up_to(z + first + i, count, -Real(kInfinity));
                            for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
                              block_top[j] = x[j] > block_top[j] ? x[j] : block_top[j];
                              block_bad[j] |= !(x[j] < Real(kInfinity));
                            });
                          });
    bad |= block_bad;
    store(tops + block * kLanes<Real>, block_top);
    Real* summit = summits.values + block % Summits<Real>::kQuarters * kLanes<Real>;
    Lanes<Real> higher = load(summit);
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      higher[j] = block_top[j] > higher[j] ? block_top[j] : higher[j];
    });
    store(summit, higher);
  }
  Lanes<Real> highest = load(summits.values);
  for (index_t k = 1; k < Summits<Real>::kQuarters; ++k) {
    const Lanes<Real> quarter = load(summits.values + k * kLanes<Real>);
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      highest[j] = quarter[j] > highest[j] ? quarter[j] : highest[j];
    });
  }
  const Real largest = largest_of<Real>(highest);
  return {largest, !any_of<Real>(bad) && largest > -Real(kInfinity)};
}

/// One row, and memory for it.
template <class Real>
struct RowContext {
  double am1;
  const Real* z;
  index_t n;
  Real top;
  const Summits<Real>& summits;
  const EntmaxScratch<Real>& scratch;
  Real* p;
};

/// How many scores are above the cut.
template <class Real>
FENCHEL_INLINE index_t count_above(const Real* z, index_t n, Real cut) noexcept {
  IntLanes<Real> counts{};
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> x = load_up_to(z + i, count, -Real(kInfinity));
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { counts[j] += x[j] > cut ? 1 : 0; });
  });
  index_t all = 0;
  for (index_t j = 0; j < kLanes<Real>; ++j) all += counts[j];
  return all;
}

/// The places of z > top - width, ascending; gives up past `most` and returns -1.
template <class Real>
FENCHEL_INLINE index_t find_candidates(const RowContext<Real>& row, double width, index_t most) noexcept {
  const Real *const z = row.z, *tops = row.scratch.tops;
  const index_t n = row.n;
  index_t* const places = row.scratch.places;
  auto cut = static_cast<Real>(row.top - width);
  using Limits = std::numeric_limits<Real>;
  cut -= std::abs(cut) * Limits::epsilon() + Limits::min();  // whichever way it was rounded
  const bool mostly_all = row.am1 < 0.25;  // and a list that is given up takes longer than to count
  if (mostly_all && count_above(z, n, cut) > most) return -1;
  index_t found = 0;
  for (index_t first = 0; first < n; first += kBlock<Real>, tops += kLanes<Real>) {
    IntLanes<Real> reaches{};
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { reaches[j] = tops[j] > cut; });
    if (!any_of<Real>(reaches)) continue;
    const auto above = [z, cut](index_t i) FENCHEL_INLINE_LAMBDA { return z[i] > cut; };
    found = append_places(first, std::min(kBlock<Real>, n - first), above, places, found);
    if (found > most) return -1;
  }
  return found;
}

/// Numbers that are solved for: a row whose largest score is `top`, or candidates less that, and 0.
template <class Real>
struct Scores {
  const Real* x;
  index_t n;
  Real top;
};

struct PowerSums {
  double value, escort, second;
};

/// The powers of the vectors at a stride of the scores, with y = slope (x - top); E and what else the finish
/// needs are kept if there is room.
template <class Real, class Power>
FENCHEL_INLINE PowerSums evaluate(const Scores<Real>& scores, index_t stride, Real slope, const Power& power,
                                  const SolveScratch<Real>* keep) noexcept {
  const Real top = scores.top;
  RunningSum<Real> value_sum, escort_sum, second_sum;
  const index_t run = RunningSum<Real>::kRun * stride;
  for (index_t first = 0; first < scores.n; first += run) {
    Lanes<Real> value_run{}, escort_run{}, second_run{};
    for (index_t i = first; i < std::min(scores.n, first + run); i += stride) {
      const index_t count = std::min(kLanes<Real>, scores.n - i);
      const Lanes<Real> score = load_up_to(scores.x + i, count, -Real(kInfinity));
      Lanes<Real> value, escort, second, kept;
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const Powers<Real> powers = power(slope * (score[j] - top));
        value[j] = powers.value;
        escort[j] = powers.escort;
        second[j] = powers.second;
        kept[j] = powers.kept;
      });
      value_run += value;
      escort_run += escort;
      second_run += second;
      if (keep != nullptr) {
        store(keep->e + i, value);
        store(keep->kept + i, kept);
      }
    }
    value_sum.add_run(value_run);
    escort_sum.add_run(escort_run);
    second_sum.add_run(second_run);
  }
  return {value_sum.total(), escort_sum.total(), second_sum.total()};
}

/// Where Newton's iteration for c begins, and where it ends.
struct Search {
  double c;
  int most_steps;
  double last_step;  ///< of log P; 0 for a bound of c, which no step may end but one of rounding
};

/// c = P^{-am1} of the scores.
struct Root {
  double c;
  double step;  ///< of log P, not yet taken
  bool found;
};

/// Halley's steps where they are worth it, but not the last: from Newton's P is never too small.
template <class Real, class Power>
FENCHEL_INLINE Root solve(double am1, const Scores<Real>& scores, index_t stride, const Power& power,
                          const Search& search, const SolveScratch<Real>* keep) noexcept {
  const index_t vectors_a_visit = stride / kLanes<Real>;
  const auto share = static_cast<double>(vectors_a_visit);
  const double enough =
      std::max(search.last_step * std::abs(am1), 4 * std::numeric_limits<double>::epsilon());
  const bool far = search.last_step > 0 && power.moves_far();
  double c = search.c;
  for (int k = 0; k < search.most_steps; ++k) {
    const PowerSums sums = evaluate(scores, stride, static_cast<Real>(am1 * c), power, keep);
    const double excess = c * power.inverse_root(share * sums.value) - 1;
    const double newton = newton_change(excess, sums.value, sums.escort);
    const double change = second_is_bounded(am1) && k + 1 < search.most_steps
                              ? halley_change(am1, excess, sums.value, sums.escort, sums.second)
                              : newton;
    if (far) {
      const auto number = [](double x) { return static_cast<Real>(x); };
      if (third_is_small(number(newton / am1), number(sums.value), number(sums.escort), number(sums.second)))
        return {c, step_of_log_peak(am1, change), true};
    }
    if (std::abs(newton) <= enough) return {c, newton / am1, true};
    c = change > -1 ? c / (1 + change) : 1.0;
    c = am1 > 0 ? std::max(c, 1.0) : std::min(c, 1.0);  // P <= 1
  }
  return {c, 0, false};
}

/// p = E / sum E after the last step, which is not solved for again. Returns log P.
template <class Real, class Power>
FENCHEL_INLINE double finish(const SolveScratch<Real>& solved, index_t n, const Power& power, double step,
                             Real* p) noexcept {
  RunningSum<Real> sum;
  const auto weight = static_cast<Real>(step);
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> e = load(solved.e + i), kept = load(solved.kept + i);
    Lanes<Real> value;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const Real moved = power.moved(e[j], kept[j], weight);
      value[j] = e[j] > 0 && moved > 0 ? moved : 0;
    });
    sum.add(value);
    store_up_to(p + i, value, count);
  });
  const double total = sum.total();
  const auto scale = static_cast<Real>(1 / total);
  for (index_t i = 0; i < n; ++i) p[i] *= scale;
  return -std::log(total);
}

/// The scores without a shortcut, for the rare ones on which Newton's iteration is slow.
template <class Real>
Normalization solve_slowly(double am1, const Scores<Real>& scores, double* scratch, Real* p) noexcept {
  for (index_t i = 0; i < scores.n; ++i) scratch[i] = double{scores.x[i]} - double{scores.top};
  const Normalization result = normalize(am1, {scratch, static_cast<std::size_t>(scores.n)});
  for (index_t i = 0; i < scores.n; ++i) p[i] = static_cast<Real>(scratch[i]);
  return result;
}

constexpr int kMostSteps = 50;

template <class Real, class Power>
FENCHEL_INLINE Normalization solve_and_write(double am1, const Scores<Real>& scores, const Power& power,
                                             double c, const SolveScratch<Real>& scratch,
                                             double* slow_scratch, Real* p) noexcept {
  if constexpr (Power::kStarts) {
    if (WholeNodes::serve(am1)) c = start_row(scores.x, scores.n, scores.top, kLanes<Real>, am1, c);
  }
  const Root root =
      solve(am1, scores, kLanes<Real>, power, Search{c, kMostSteps, power.last_step()}, &scratch);
  if (!root.found) return solve_slowly(am1, scores, slow_scratch, p);
  return normalization_from_peak(am1, finish(scratch, scores.n, power, root.step, p));
}

/// The row itself. A long one is solved on every eighth vector first, which costs little and starts Newton's
/// iteration near its end.
template <class Real, class Power>
FENCHEL_INLINE Normalization solve_row(const RowContext<Real>& row, const Power& power) noexcept {
  constexpr index_t kStride = 8 * kLanes<Real>, kLongRow = 4 * kStride;
  constexpr const SolveScratch<Real>* kKeepNothing = nullptr;
  const Scores<Real> scores{row.z, row.n, row.top};
  double c = 1;
  if (row.n >= kLongRow) {
    c = Power::kStarts && WholeNodes::serve(row.am1)
            ? start_row(row.z, row.n, row.top, kStride, row.am1, c)
            : solve(row.am1, scores, kStride, power, Search{c, kMostSteps, 1e-3}, kKeepNothing).c;
  }
  return solve_and_write(row.am1, scores, power, c, row.scratch.general, row.scratch.exact.x, row.p);
}

/// A lower bound of c from a few of the entries, which have less mass than all. A little is taken off for
/// rounding, so that no entry of the support is lost by what follows.
template <class Real, class Power>
FENCHEL_INLINE double lower_bound(const RowContext<Real>& row, const Power& power) noexcept {
  constexpr const SolveScratch<Real>* kKeepNothing = nullptr;
  const Scores<Real> few{row.summits.values, Summits<Real>::kQuarters * kLanes<Real>, row.top};
  const int steps = row.am1 < 0.25 ? 1 : 3;  // Newton's equation is linear at alpha = 1
  const double c = solve(row.am1, few, kLanes<Real>, power, Search{1.0, steps, 0.0}, kKeepNothing).c;
  return std::max(1.0, c * (1 - 64 * double{std::numeric_limits<Real>::epsilon()}));
}

template <class Real>
FENCHEL_INLINE Normalization softmax(const Real* z, index_t n, Real top, Real* p) noexcept {
  RunningSum<Real> sum;
  for_each_vector<Real>(n, [&](index_t i, index_t count) FENCHEL_INLINE_LAMBDA {
    const Lanes<Real> d = load_up_to(z + i, count, -Real(kInfinity)) - top;
    Lanes<Real> e;
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { e[j] = exp_element(d[j]); });
    sum.add(e);
    store_up_to(p + i, e, count);
  });
  const double total = sum.total();
  const auto scale = static_cast<Real>(1 / total);
  for (index_t i = 0; i < n; ++i) p[i] *= scale;
  return normalization_from_peak(0, -std::log(total));
}

/// Candidates less the maximum, filled up with scores of no mass to whole vectors; how many that makes.
template <class Real, class Value>
FENCHEL_INLINE index_t gather(const Real* z, Real top, const index_t* places, index_t found,
                              Value* x) noexcept {
  constexpr auto kNoMass = static_cast<Value>(-1e30);  // finite: 0 times it is 0
  for (index_t k = 0; k < found; ++k) x[k] = static_cast<Value>(z[places[k]]) - static_cast<Value>(top);
  for (index_t k = found; k < found + kLanes<Value>; ++k) x[k] = kNoMass;
  return (found + kLanes<Value> - 1) / kLanes<Value> * kLanes<Value>;
}

template <class Real, class Value>
FENCHEL_INLINE void scatter(const Value* x, const index_t* places, index_t found, Real* p,
                            index_t n) noexcept {
  fill(p, n, Real(0));
  for (index_t k = 0; k < found; ++k) p[places[k]] = static_cast<Real>(x[k]);
}

/// Candidates less the maximum, in whole vectors, in place of which the probabilities are left.
template <class Real, class Value, class Power>
FENCHEL_INLINE Normalization solve_candidates(double am1, index_t count, const Power& power, double c,
                                              const SolveScratch<Value>& candidates,
                                              double* slow_scratch) noexcept {
  if constexpr (Power::kClosedForm) {
    constexpr int kPower = Power::kExponent;
    const Level level = sizeof(Real) < sizeof(double) && count <= kFew
                            ? level_of_few<kPower>(candidates.x, count)
                            : level_by_turns<kPower>(candidates.x, count);
    if (level.found) return write_exact<kPower>(level, candidates.x, count);
  }
  return solve_and_write(am1, Scores<Value>{candidates.x, count, Value(0)}, power, c, candidates,
                         slow_scratch, candidates.x);
}

/// Gathers the candidates, solves on them, and writes the row.
template <class Real, class Value, class Power>
FENCHEL_INLINE Normalization map_candidates(const RowContext<Real>& row, index_t found, double c,
                                            const Power& power,
                                            const SolveScratch<Value>& candidates) noexcept {
  const index_t count = gather(row.z, row.top, row.scratch.places, found, candidates.x);
  const Normalization result =
      solve_candidates<Real>(row.am1, count, power, c, candidates, row.scratch.exact.e);
  scatter(candidates.x, row.scratch.places, found, row.p, row.n);
  return result;
}

/// Few candidates are solved in the type of few_power, the whole row in that of the row where there are many.
/// Past am1 = 1/2 a crowd of scores within rounding of the threshold can move all the mass, so candidates are
/// solved in double there, few or many. In a long row the summits narrow the candidates.
template <class Real, class Value, class FewPower, class ExactPower, class RowPower>
FENCHEL_INLINE Normalization entmax_up_to_two(const RowContext<Real>& row, const SolveScratch<Value>& few,
                                              const FewPower& few_power, const ExactPower& exact_power,
                                              const RowPower& row_power) noexcept {
  if (row.am1 < 0) return solve_row(row, row_power);
  constexpr index_t kLongRow = 1000;
  const double c = row.n < kLongRow ? 1.0 : lower_bound(row, row_power);
  const double width = 1 / (row.am1 * c);
  const index_t most = row.n / 4 + kLanes<Real>;
  index_t found = find_candidates(row, width, most);
  if (found >= 0) return map_candidates(row, found, c, few_power, few);
  if (second_is_bounded(row.am1)) return solve_row(row, row_power);
  found = find_candidates(row, width, row.n);
  return map_candidates(row, found, c, exact_power, row.scratch.exact);
}

template <class Real>
FENCHEL_INLINE Normalization entmax_beyond_two(const RowContext<Real>& row) noexcept {
  double* const x = row.scratch.exact.x;
  const index_t found = find_candidates(row, 1 / row.am1, row.n);
  gather(row.z, row.top, row.scratch.places, found, x);
  const Normalization result = normalize(row.am1, {x, static_cast<std::size_t>(found)});
  scatter(x, row.scratch.places, found, row.p, row.n);
  return result;
}

/// alpha names the exact powers: 4/3 rounded to double is meant to be 4/3.
template <class Real>
FENCHEL_INLINE Normalization entmax_valid_row(double alpha, const RowContext<Real>& row) noexcept {
  const auto whole = [&]<int q>(std::integral_constant<int, q>) FENCHEL_INLINE_LAMBDA {
    const WholePower<double, q> exact;  // no exp, no log: double costs nothing more
    return entmax_up_to_two(row, row.scratch.exact, exact, exact, WholePower<Real, q>{});
  };
  if (alpha == 1) return softmax(row.z, row.n, row.top, row.p);
  if (alpha == 2) return whole(std::integral_constant<int, 1>{});
  if (alpha == 1.5) return whole(std::integral_constant<int, 2>{});
  if (alpha == 4.0 / 3) return whole(std::integral_constant<int, 3>{});
  if (alpha == 1.25) return whole(std::integral_constant<int, 4>{});
  if (alpha > 2) return entmax_beyond_two(row);
  const GeneralPower<double> exact{row.am1};
  const GeneralPower<Real> power{row.am1};
  if (!second_is_bounded(row.am1)) return entmax_up_to_two(row, row.scratch.exact, exact, exact, power);
  return entmax_up_to_two(row, row.scratch.general, power, exact, power);
}

template <class Real>
FENCHEL_INLINE EntmaxRow entmax_any_row(const Real* z, index_t n, double alpha,
                                        const EntmaxScratch<Real>& scratch, Real* p) noexcept {
  Summits<Real> summits;
  const auto [top, valid] = find_top(z, n, scratch.tops, summits);
  if (valid)
    return {top, entmax_valid_row(alpha, RowContext<Real>{alpha - 1, z, n, top, summits, scratch, p})};
  fill(p, n, std::numeric_limits<Real>::quiet_NaN());
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  return {kNaN, {kNaN, kNaN}};
}

}  // namespace

FENCHEL_CLONES EntmaxRow entmax_row(const float* z, index_t n, double alpha,
                                    const EntmaxScratch<float>& scratch, float* p) noexcept {
  return entmax_any_row(z, n, alpha, scratch, p);
}

FENCHEL_CLONES EntmaxRow entmax_row(const double* z, index_t n, double alpha,
                                    const EntmaxScratch<double>& scratch, double* p) noexcept {
  return entmax_any_row(z, n, alpha, scratch, p);
}

}  // namespace fenchel::detail
