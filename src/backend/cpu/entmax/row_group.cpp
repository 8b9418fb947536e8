#include "backend/cpu/entmax/row_group.hpp"

#include "backend/cpu/entmax/group_layout.hpp"
#include "backend/cpu/entmax/group_solvers.hpp"
#include "backend/cpu/entmax/group_support.hpp"
#include "backend/cpu/entmax/whole_start.hpp"

/// Three ways, each for the rows that the one before has left: lists of the few scores that can have mass, in
/// lanes; whole rows in lanes; a row alone (row.cpp). Which way a row goes depends on that row.
namespace fenchel::detail {
namespace {

/// What is solved for: the scores d that can have mass, less the largest one, in lanes, filled up with scores
/// of no mass. Beyond alpha = 2 they are the scores themselves.
template <class Real>
struct GroupColumns {
  Columns<Real> columns{};
  Lanes<Real> top;               ///< the largest scores
  Lanes<Real> level;             ///< an upper bound of P^am1, where one was asked for
  bool there[kGroup<Real>];      ///< rows with a prediction, which are among the columns
  index_t listed[kGroup<Real>];  ///< how many of a row are listed; not set where rows are whole
  bool whole;
};

/// m is a power of at least 1/am1, for bound_level; 0 where no bound is wanted.
template <int m, bool kFromTop, class Real>
FENCHEL_INLINE void take_whole(const GroupRows<Real>& rows, double am1, const GroupScratch<Real>& scratch,
                               GroupColumns<Real>& group) noexcept {
  turn_into_lanes(rows.z, rows.count, rows.n, scratch.columns);
  for (index_t r = 0; r < kGroup<Real>; ++r) rows.next->bring_scores(r);
  const auto [count, top, bad] = summits_of_lanes(scratch.columns, rows.n, scratch.by_lane);
  for (index_t k = 0; kFromTop && k < rows.n; ++k) {
    Real* const column = scratch.columns + k * kGroup<Real>;
    store(column, load(column) - top);
  }
  group.columns = {scratch.columns, rows.n};
  group.top = top;
  if constexpr (m != 0) group.level = bound_level<m>(scratch.by_lane, count, static_cast<Real>(am1), top);
  for (index_t r = 0; r < kGroup<Real>; ++r)
    group.there[r] = r < rows.count && bad[r] == 0 && top[r] > -Real(kInfinity);
}

template <int m, bool kFromTop, class Real>
FENCHEL_INLINE void take_candidates(const GroupRows<Real>& rows, double am1,
                                    const GroupScratch<Real>& scratch, GroupColumns<Real>& group) noexcept {
  const auto [count, top, bad] = summits_of_rows(rows, scratch.by_row, scratch.by_lane);
  group.top = top;
  group.level = bound_level<m>(scratch.by_lane, count, static_cast<Real>(am1), top);
  Lanes<Real> cut = top - group.level * static_cast<Real>(1 / am1);
  for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
    using Limits = std::numeric_limits<Real>;
    cut[j] -= std::abs(cut[j]) * Limits::epsilon() + Limits::min();  // whichever way it was rounded
  });
  Real tops[kGroup<Real>], cuts[kGroup<Real>];
  store(tops, top);
  store(cuts, cut);
  constexpr index_t kShortRow = 160;  // which costs no more where all of it is listed
  const index_t most = rows.n <= kShortRow ? rows.n : rows.n / 2;
  index_t longest = 0;
  for (index_t r = 0; r < kGroup<Real>; ++r) {
    rows.next->bring_scores(r);
    group.listed[r] = 0;
    group.there[r] = false;
    if (r >= rows.count || bad[r] != 0) continue;
    const index_t found = list_candidates(rows.z[r], rows.n, cuts[r], kFromTop ? tops[r] : Real(0), most,
                                          scratch.columns + r, scratch.places + r * list_room(rows.n));
    group.there[r] = found > 0;
    group.listed[r] = std::max<index_t>(found, 0);
    longest = std::max(longest, group.listed[r]);
  }
  for (index_t r = 0; r < kGroup<Real>; ++r) {
    for (index_t k = group.listed[r]; k < longest; ++k)
      scratch.columns[k * kGroup<Real> + r] = -Real(kInfinity);
  }
  group.columns = {scratch.columns, longest};
}

/// Where to leave what a caller wants to know of the maps.
struct MapsOf {
  EntmaxRow* maps;
  const index_t* place;

  [[nodiscard]] FENCHEL_INLINE bool wanted() const noexcept { return maps != nullptr; }
  FENCHEL_INLINE void set(index_t r, const EntmaxRow& map) const noexcept { maps[place[r]] = map; }
};

/// Writes the rows that are done from the probabilities of the columns.
template <class Real>
FENCHEL_INLINE void write_values(const GroupRows<Real>& rows, const GroupColumns<Real>& group,
                                 const GroupScratch<Real>& scratch, const bool* done) noexcept {
  for (index_t r = 0; r < kGroup<Real>; ++r) rows.next->bring_room(r);
  if (group.whole) return turn_into_rows(scratch.value, rows, done);
  for (index_t r = 0; r < rows.count; ++r) {
    if (!done[r]) continue;
    const std::int32_t* const places = scratch.places + r * list_room(rows.n);
    fill(rows.p[r], rows.n, Real(0));
    for (index_t k = 0; k < group.listed[r]; ++k) rows.p[r][places[k]] = scratch.value[k * kGroup<Real> + r];
  }
}

/// alpha = 2 and 3/2.
template <class Real, int q>
struct ClosedForm {
  static constexpr int kBound = q;
  static constexpr bool kFromTop = true;
  /// To list candidates of so many columns costs more than to go over all.
  FENCHEL_INLINE static index_t longest_whole() noexcept { return 160; }

  /// Writes the rows that it finds, and says which these are.
  FENCHEL_INLINE void operator()(const GroupRows<Real>& rows, const GroupColumns<Real>& group,
                                 const GroupScratch<Real>&, bool* done, const MapsOf& maps) const noexcept {
    const LevelLanes<Real> solved = solve_level<q>(group.columns, group.level);
    Real tops[kGroup<Real>], high[kGroup<Real>], low[kGroup<Real>];
    store(tops, group.top);
    store(high, solved.high);
    store(low, solved.low);
    for (index_t r = 0; r < rows.count; ++r) {
      done[r] = group.there[r] && solved.missing[r] == 0;
      if (!done[r]) continue;
      if (maps.wanted()) {
        const double above = double{high[r]} - 1, level = double{high[r]} + double{low[r]};
        maps.set(r, {tops[r], {-q * (above + double{low[r]}), -q * level}});
      }
      rows.next->bring_room(r);
      write(rows.z[r], rows.n, tops[r], high[r], low[r], rows.p[r]);
    }
  }

 private:
  /// p = (level + d/q)_+^q.
  FENCHEL_INLINE static void write(const Real* z, index_t n, Real top, Real high, Real low,
                                   Real* p) noexcept {
    for (index_t i = 0; i < n; ++i) {
      const Real above = (high + (z[i] - top) * Real(1.0 / q)) + low, base = above > 0 ? above : 0;
      p[i] = q == 1 ? base : base * base;
    }
  }
};

/// Any other alpha. With m = 0 the iteration begins with what a share of the columns gives, else with a
/// bound.
template <class Real, int m, class Power>
struct ByPowers {
  static constexpr int kBound = m;
  static constexpr bool kFromTop = true;
  /// To list candidates costs more than to go over all, the more so the cheaper the power and the more they
  /// are; a row of which too many are listed in vain, too.
  [[nodiscard]] FENCHEL_INLINE index_t longest_whole() const noexcept {
    if constexpr (m == 0) return kLongestInGroup;
    if constexpr (Power::kCheap) return index_t{100 * Power::kExponent};
    return m == 4 ? (power.moves_far() ? 112 : 64) : 16;
  }
  double am1;
  Power power;

  FENCHEL_INLINE void operator()(const GroupRows<Real>& rows, const GroupColumns<Real>& group,
                                 const GroupScratch<Real>& scratch, bool* done,
                                 const MapsOf& maps) const noexcept {
    double c[kGroup<Real>];
    for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
      const double bound = m == 0 ? 1.0 : 1 / double{group.level[j]};
      c[j] = bound > 1 ? bound : 1.0;
    });
    const bool few = rows.n < WholeNodes::kFewest;  // as all of its group: a row does not depend on others
    if constexpr (Power::kStarts) {
      constexpr index_t kEnough = 64;
      if (!few && WholeNodes::serve(am1)) {
        const auto& [columns, count] = group.columns;
        if (group.whole && count >= 2 * kEnough) start_lanes(columns, count, count / kEnough, am1, c);
        start_lanes(columns, count, 1, am1, c);
      }
    }
    const auto root =
        solve_powers(am1, group.columns, power, group.there, few, c, scratch.value, scratch.escort);
    const auto total = finish_lanes(group.columns.count, power, root.step, scratch.value, scratch.escort);
    for (index_t r = 0; r < rows.count; ++r) {
      done[r] = group.there[r] && root.going[r] == 0;
      if (!done[r]) continue;
      if (maps.wanted())
        maps.set(r, {group.top[r], normalization_from_peak(am1, -std::log(double{total[r]}))});
    }
    write_values(rows, group, scratch, done);
  }
};

/// alpha > 2, finite.
template <class Real>
struct BySmallest {
  static constexpr int kBound = 1;
  static constexpr bool kFromTop = false;
  FENCHEL_INLINE static index_t longest_whole() noexcept { return 16; }
  double am1;

  FENCHEL_INLINE void operator()(const GroupRows<Real>& rows, const GroupColumns<Real>& group,
                                 const GroupScratch<Real>& scratch, bool* done,
                                 const MapsOf& maps) const noexcept {
    constexpr index_t kEight = kLanes<double>;
    WideLanes<Real> top, outside;
    for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
      top[o][j] = group.top[o * kEight + j];
      const double cut = top[o][j] - group.level[o * kEight + j] / am1;
      using Limits = std::numeric_limits<double>;
      outside[o][j] =
          cut - std::abs(cut) * Limits::epsilon() - Limits::min();  // whichever way it was rounded
    });
    const auto pivot = find_pivots<Real>(am1, group.columns, top, outside);
    const auto found = solve_densities(am1, group.columns, pivot, scratch.value, scratch.escort);
    for (index_t k = 0; k < group.columns.count; ++k) {
      for_each_wide_lane<Real>([&](index_t o, index_t j) FENCHEL_INLINE_LAMBDA {
        const index_t at = k * kGroup<Real> + o * kEight + j;
        const Real p = scratch.value[at] + static_cast<Real>(found.step[o][j]) * scratch.escort[at];
        scratch.value[at] = p > 0 ? p : Real(0);
      });
    }
    for (index_t r = 0; r < rows.count; ++r) {
      const index_t o = r / kEight, j = r % kEight;
      done[r] = group.there[r] && pivot.going[o][j] == 0 && found.going[o][j] == 0;
      if (!done[r] || !maps.wanted()) continue;
      const double q = std::max(0.0, found.q[o][j] + found.step[o][j]);
      const double threshold = pivot.score[o][j] - top[o][j] - std::exp(am1 * std::log(q)) / am1;
      maps.set(r, {top[o][j], {threshold + 1 / am1, threshold}});
    }
    write_values(rows, group, scratch, done);
  }
};

/// The three ways.
template <class Real, class Solver>
FENCHEL_INLINE void map_rows(GroupRows<Real> rows, double alpha, const Solver& solver,
                             const GroupScratch<Real>& scratch, EntmaxRow* maps) noexcept {
  const NextRows<Real> nothing{};
  index_t place[kGroup<Real>];
  for (index_t r = 0; r < rows.count; ++r) place[r] = r;
  GroupColumns<Real> group;
  group.whole = rows.n <= solver.longest_whole();
  for (bool last = false; !last && rows.count > 0; group.whole = true) {
    last = group.whole;
    constexpr int kBound = Solver::kBound;
    constexpr bool kFromTop = Solver::kFromTop;
    if (group.whole) take_whole<kBound, kFromTop>(rows, alpha - 1, scratch, group);
    if constexpr (kBound != 0) {
      if (!group.whole) take_candidates<kBound, kFromTop>(rows, alpha - 1, scratch, group);
    }
    bool done[kGroup<Real>];
    solver(rows, group, scratch, done, MapsOf{maps, place});
    index_t left = 0;
    for (index_t r = 0; r < rows.count; ++r) {
      if (done[r]) continue;
      place[left] = place[r];
      rows.z[left] = rows.z[r];
      rows.p[left++] = rows.p[r];
    }
    rows.count = left;
    rows.next = &nothing;  // it is on its way
  }
  for (index_t r = 0; r < rows.count; ++r) {
    const EntmaxRow map = entmax_row(rows.z[r], rows.n, alpha, scratch.row, rows.p[r]);
    if (maps != nullptr) maps[place[r]] = map;
  }
}

template <class Real>
FENCHEL_INLINE void map_any(const GroupRows<Real>& rows, double alpha, const GroupScratch<Real>& scratch,
                            EntmaxRow* maps) noexcept {
  const double am1 = alpha - 1;
  const auto by_powers = [&]<int m>(std::integral_constant<int, m>, const auto& power) FENCHEL_INLINE_LAMBDA {
    map_rows(rows, alpha, ByPowers<Real, m, std::decay_t<decltype(power)>>{am1, power}, scratch, maps);
  };
  constexpr std::integral_constant<int, 2> kTwo;
  constexpr std::integral_constant<int, 4> kFour;
  if (alpha > 2) return map_rows(rows, alpha, BySmallest<Real>{am1}, scratch, maps);
  if (alpha == 2) return map_rows(rows, alpha, ClosedForm<Real, 1>{}, scratch, maps);
  if (alpha == 1.5) return map_rows(rows, alpha, ClosedForm<Real, 2>{}, scratch, maps);
  if (alpha == 4.0 / 3) return by_powers(kFour, WholePower<Real, 3>{});
  if (alpha == 1.25) return by_powers(kFour, WholePower<Real, 4>{});
  using Steep = std::conditional_t<sizeof(Real) == 4, SteepPower, GeneralPower<Real>>;
  if (alpha > 1.5) return by_powers(kTwo, Steep{am1});
  const GeneralPower<Real> general{am1};
  if (alpha >= kLeastListed) return by_powers(kFour, general);
  return by_powers(std::integral_constant<int, 0>{}, general);
}

template <class Real>
FENCHEL_INLINE void map_group(const Rows<const Real>& scores, double alpha, const GroupScratch<Real>& scratch,
                              const Rows<Real>& p, EntmaxRow* maps, const NextRows<Real>& next) noexcept {
  GroupRows<Real> rows;
  rows.next = &next;
  rows.count = scores.rows;
  rows.n = scores.cols;
  for (index_t r = 0; r < scores.rows; ++r) {
    rows.z[r] = scores.row(r);
    rows.p[r] = p.row(r);
  }
  map_any(rows, alpha, scratch, maps);
}

}  // namespace

FENCHEL_CLONES void entmax_row_group(const Rows<const float>& scores, double alpha,
                                     const GroupScratch<float>& scratch, const Rows<float>& p,
                                     EntmaxRow* maps, const NextRows<float>& next) noexcept {
  map_group(scores, alpha, scratch, p, maps, next);
}

FENCHEL_CLONES void entmax_row_group(const Rows<const double>& scores, double alpha,
                                     const GroupScratch<double>& scratch, const Rows<double>& p,
                                     EntmaxRow* maps, const NextRows<double>& next) noexcept {
  map_group(scores, alpha, scratch, p, maps, next);
}

}  // namespace fenchel::detail
