#pragma once

#include <algorithm>
#include <cstdint>
#include <type_traits>

#include "backend/cpu/entmax/row.hpp"
#include "core/lanes/lanes.hpp"
#include "fenchel/core/rows.hpp"

/// Short rows are mapped side by side, one in each lane: what is done for a row, and not for a column, is
/// then done for a vector of rows at once.
namespace fenchel::detail {

/// How many rows that is.
template <class Real>
inline constexpr index_t kGroup = kLanes<Real>;

/// Longer rows are mapped one by one. Below some alpha most scores can have mass, and rows are not listed but
/// taken whole: for one that comes alone all lanes are computed.
inline constexpr index_t kLongestInGroup = 1024, kLongestWholeRow = 256;
inline constexpr double kLeastListed = 1.25;
/// Beyond, a difference of scores times alpha - 1 may be no float.
inline constexpr double kLargestInGroup = 0x1p60;

/// Whether rows of so many columns are mapped in groups.
[[nodiscard]] constexpr bool mapped_in_groups(double alpha, index_t cols) noexcept {
  return alpha != 1 && alpha <= kLargestInGroup &&
         cols <= (alpha < kLeastListed ? kLongestWholeRow : kLongestInGroup);
}

/// How many rows of so many columns a group may have.
template <class Real>
constexpr index_t most_in_group(index_t cols) noexcept {
  return cols <= kLongestInGroup ? kGroup<Real> : 1;
}

/// Memory for a group.
template <class Real>
struct GroupScratch {
  Real *by_row, *by_lane;   ///< some large scores of each row
  Real* columns;            ///< scores less the largest one
  Real *value, *escort;     ///< their E, and what else a finish needs
  std::int32_t* places;     ///< where candidates stand, a list after the other
  EntmaxScratch<Real> row;  ///< for a row that is mapped alone
};

inline constexpr index_t kMostSummits = 32;

inline constexpr index_t list_room(index_t cols) noexcept { return cols + 8; }

/// Room for the lists of a group; rows that are never in one have none.
template <class Real>
constexpr index_t group_room(index_t cols) noexcept {
  return cols <= kLongestInGroup ? kGroup<Real> * list_room(cols) : 0;
}

template <class Real>
std::size_t group_scratch_bytes(index_t cols) noexcept {
  const index_t listed = group_room<Real>(cols);
  return 2 * scratch_bytes<Real>(kGroup<Real> * kMostSummits) + 3 * scratch_bytes<Real>(listed) +
         scratch_bytes<std::int32_t>(listed) + entmax_scratch_bytes<Real>(cols);
}

template <class Real>
GroupScratch<Real> take_group_scratch(WorkerScratch& memory, index_t cols) noexcept {
  const index_t listed = group_room<Real>(cols);
  const auto summits = [&] { return memory.take<Real>(kGroup<Real> * kMostSummits); };
  const auto reals = [&] { return memory.take<Real>(listed); };
  return {summits(),
          summits(),
          reals(),
          reals(),
          reals(),
          memory.take<std::int32_t>(listed),
          take_entmax_scratch<Real>(memory, cols)};
}

/// The rows of the group that comes after, brought into the cache row by row while this one is computed:
/// short rows, sixteen at a time, are no stream that a processor foresees. Without data nothing is brought.
template <class Real>
struct NextRows {
  Rows<const Real> z;
  Rows<Real> p;  ///< which will be written

  FENCHEL_INLINE void bring_scores(index_t r) const noexcept {
    for (index_t i = 0; z.data != nullptr && r < z.rows && i < z.cols; i += kLanes<Real>)
      __builtin_prefetch(z.row(r) + i);
  }
  FENCHEL_INLINE void bring_room(index_t r) const noexcept {
    for (index_t i = 0; p.data != nullptr && r < p.rows && i < p.cols; i += kLanes<Real>)
      __builtin_prefetch(p.row(r) + i, 1);
  }
};

/// At most a group of the rows from i on, if they are short.
template <class Real>
Rows<Real> rows_ahead(const Rows<Real>& rows, index_t i, index_t end) noexcept {
  constexpr index_t kLongest = 32 * static_cast<index_t>(kCacheLine / sizeof(Real));
  constexpr index_t most = kGroup<std::remove_const_t<Real>>;
  if (rows.data == nullptr || i >= end || rows.cols > kLongest) return {};
  return {rows.row(i), std::min(end - i, most), rows.cols, rows.stride};
}

/// entmax of up to kGroup rows, with what each map leaves behind if maps is not null; p may be the scores. A
/// row's numbers do not depend on the others.
void entmax_row_group(const Rows<const float>& scores, double alpha, const GroupScratch<float>& scratch,
                      const Rows<float>& p, EntmaxRow* maps, const NextRows<float>& next) noexcept;
void entmax_row_group(const Rows<const double>& scores, double alpha, const GroupScratch<double>& scratch,
                      const Rows<double>& p, EntmaxRow* maps, const NextRows<double>& next) noexcept;

/// How many rows from i on have one alpha and are mapped together.
inline index_t group_at(const PerRow& alpha, index_t cols, index_t i, index_t end, index_t most) noexcept {
  if (!mapped_in_groups(alpha[i], cols)) return 1;
  index_t count = 1;
  while (count < most && i + count < end && alpha[i + count] == alpha[i]) ++count;
  return count;
}

/// The same of a group, or of a row that is mapped alone.
template <class Real>
void entmax_rows(const Rows<const Real>& scores, double alpha, const GroupScratch<Real>& scratch,
                 const Rows<Real>& p, EntmaxRow* maps, const NextRows<Real>& next) noexcept {
  if (mapped_in_groups(alpha, scores.cols)) return entmax_row_group(scores, alpha, scratch, p, maps, next);
  const EntmaxRow map = entmax_row(scores.row(0), scores.cols, alpha, scratch.row, p.row(0));
  if (maps != nullptr) maps[0] = map;
}

}  // namespace fenchel::detail
