#include "backend/cpu/entmax/row_group.hpp"

#include "backend/cpu/entmax/group_layout.hpp"
#include "backend/cpu/entmax/group_solvers.hpp"

/// Three ways, each for the rows that the one before has left: lists of the few scores that can have mass, in
/// lanes; whole rows in lanes; a row alone (row.cpp). Which way a row goes depends on that row.
namespace fenchel::detail {
namespace {

/// What is solved for: the scores d that can have mass, less the largest one, in lanes, filled up with scores
/// of no mass.
template <class Real>
struct GroupColumns {
  Columns<Real> columns;
  Lanes<Real> top;               ///< the largest scores
  Lanes<Real> level;             ///< an upper bound of P^am1, where one was asked for
  bool there[kGroup<Real>];      ///< rows with a prediction, which are among the columns
  index_t listed[kGroup<Real>];  ///< how many of a row are listed; not set where rows are whole
  bool whole;
};

/// m is a power of at least 1/am1, for bound_level; 0 where no bound is wanted.
template <int m, class Real>
FENCHEL_INLINE void take_whole(const GroupRows<Real>& rows, double am1, const GroupScratch<Real>& scratch,
                               GroupColumns<Real>& group) noexcept {
  turn_into_lanes(rows.z, rows.count, rows.n, scratch.columns);
  const auto [count, top, bad] = summits_of_lanes(scratch.columns, rows.n, scratch.by_lane);
  for (index_t k = 0; k < rows.n; ++k) {
    Real* const column = scratch.columns + k * kGroup<Real>;
    store(column, load(column) - top);
  }
  group.columns = {scratch.columns, rows.n};
  group.top = top;
  if constexpr (m != 0) group.level = bound_level<m>(scratch.by_lane, count, static_cast<Real>(am1), top);
  for (index_t r = 0; r < rows.count; ++r) group.there[r] = bad[r] == 0 && top[r] > -Real(kInfinity);
}

template <int m, class Real>
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
    group.listed[r] = 0;
    group.there[r] = false;
    if (r >= rows.count || bad[r] != 0) continue;
    const index_t found = list_candidates(rows.z[r], rows.n, cuts[r], tops[r], most, scratch.columns + r,
                                          scratch.places + r * list_room(rows.n));
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

/// alpha = 2 and 3/2.
template <class Real, int q>
struct ClosedForm {
  static constexpr int kBound = q;
  static constexpr index_t kLongestWhole = 160;  ///< to list candidates costs more than to go over all

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
  /// To list candidates costs more than to go over all, the more so the cheaper the power and the more they
  /// are.
  static constexpr index_t kLongestWhole = m == 0 ? kLongestInGroup : Power::kCheap ? 128 : m == 4 ? 64 : 16;
  double am1;
  Power power;

  FENCHEL_INLINE void operator()(const GroupRows<Real>& rows, const GroupColumns<Real>& group,
                                 const GroupScratch<Real>& scratch, bool* done,
                                 const MapsOf& maps) const noexcept {
    constexpr int kMostSteps = 20, kFewSteps = 3;
    constexpr index_t kEnough = 16;
    double c[kGroup<Real>];
    if constexpr (m == 0) {
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { c[j] = 1; });
      const index_t stride = rows.n / kEnough;
      if (stride > 1)
        solve_powers(am1, group.columns, stride, power, kFewSteps, c, scratch.value, scratch.escort);
    } else {
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA {
        const double bound = 1 / double{group.level[j]};
        c[j] = bound > 1 ? bound : 1.0;
      });
    }
    const auto root =
        solve_powers(am1, group.columns, 1, power, kMostSteps, c, scratch.value, scratch.escort);
    const auto total = finish_lanes(group.columns.count, root.step, scratch.value, scratch.escort);
    for (index_t r = 0; r < rows.count; ++r) {
      done[r] = group.there[r] && root.going[r] == 0;
      if (!done[r]) continue;
      if (maps.wanted())
        maps.set(r, {group.top[r], normalization_from_peak(am1, -std::log(double{total[r]}))});
      if (!group.whole)
        write(scratch.value + r, scratch.places + r * list_room(rows.n), group.listed[r], rows.n, rows.p[r]);
    }
    if (group.whole) turn_into_rows(scratch.value, rows, done);
  }

 private:
  FENCHEL_INLINE static void write(const Real* value, const std::int32_t* places, index_t listed, index_t n,
                                   Real* p) noexcept {
    fill(p, n, Real(0));
    for (index_t k = 0; k < listed; ++k) p[places[k]] = value[k * kGroup<Real>];
  }
};

/// The three ways.
template <class Real, class Solver>
FENCHEL_INLINE void map_rows(GroupRows<Real> rows, double alpha, const Solver& solver,
                             const GroupScratch<Real>& scratch, EntmaxRow* maps) noexcept {
  index_t place[kGroup<Real>];
  for (index_t r = 0; r < rows.count; ++r) place[r] = r;
  GroupColumns<Real> group;
  group.whole = rows.n <= Solver::kLongestWhole;
  for (bool last = false; !last && rows.count > 0; group.whole = true) {
    last = group.whole;
    constexpr int kBound = Solver::kBound;
    if (group.whole) take_whole<kBound>(rows, alpha - 1, scratch, group);
    if constexpr (kBound != 0) {
      if (!group.whole) take_candidates<kBound>(rows, alpha - 1, scratch, group);
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
                              const Rows<Real>& p, EntmaxRow* maps) noexcept {
  GroupRows<Real> rows;
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
                                     EntmaxRow* maps) noexcept {
  map_group(scores, alpha, scratch, p, maps);
}

FENCHEL_CLONES void entmax_row_group(const Rows<const double>& scores, double alpha,
                                     const GroupScratch<double>& scratch, const Rows<double>& p,
                                     EntmaxRow* maps) noexcept {
  map_group(scores, alpha, scratch, p, maps);
}

}  // namespace fenchel::detail
