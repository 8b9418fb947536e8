#pragma once

#include <bit>
#include <cstdint>

#include "backend/cpu/entmax/row_group.hpp"
#include "backend/cpu/row_lanes.hpp"
#include "fenchel/core/infinity.hpp"

/// How rows come into the lanes of a group, and back: whole rows are turned, of longer ones a few candidates
/// are listed.
namespace fenchel::detail {

/// As many numbers as fit into 16 bytes, which every instruction set can shuffle.
template <class Real>
struct Quarter;
template <>
struct Quarter<float> {
  typedef float Numbers __attribute__((vector_size(16)));
  static constexpr index_t kSide = 4;

  /// The square of four rows, turned.
  FENCHEL_INLINE static void turn(Numbers (&x)[kSide]) noexcept {
    const Numbers a = __builtin_shufflevector(x[0], x[1], 0, 4, 1, 5);
    const Numbers b = __builtin_shufflevector(x[2], x[3], 0, 4, 1, 5);
    const Numbers c = __builtin_shufflevector(x[0], x[1], 2, 6, 3, 7);
    const Numbers d = __builtin_shufflevector(x[2], x[3], 2, 6, 3, 7);
    x[0] = __builtin_shufflevector(a, b, 0, 1, 4, 5);
    x[1] = __builtin_shufflevector(a, b, 2, 3, 6, 7);
    x[2] = __builtin_shufflevector(c, d, 0, 1, 4, 5);
    x[3] = __builtin_shufflevector(c, d, 2, 3, 6, 7);
  }
};
template <>
struct Quarter<double> {
  typedef double Numbers __attribute__((vector_size(16)));
  static constexpr index_t kSide = 2;

  FENCHEL_INLINE static void turn(Numbers (&x)[kSide]) noexcept {
    const Numbers a = __builtin_shufflevector(x[0], x[1], 0, 2);
    x[1] = __builtin_shufflevector(x[0], x[1], 1, 3);
    x[0] = a;
  }
};

/// Up to kGroup rows, anywhere in memory.
template <class Real>
struct GroupRows {
  const Real* z[kGroup<Real>];
  Real* p[kGroup<Real>];
  index_t count, n;
  const NextRows<Real>* next;
};

/// lanes[k][r] = row r at k, for n columns. Rows past the last are the last one.
template <class Real>
FENCHEL_INLINE void turn_into_lanes(const Real* const* z, index_t rows, index_t n, Real* lanes) noexcept {
  using Square = Quarter<Real>;
  constexpr index_t kSide = Square::kSide;
  const index_t whole = n / kSide * kSide;
  for (index_t r = 0; r < kGroup<Real>; r += kSide) {
    const Real* from[kSide];
    for (index_t i = 0; i < kSide; ++i) from[i] = z[std::min(r + i, rows - 1)];
    Real* to = lanes + r;
    for (index_t k = 0; k < whole; k += kSide) {
      typename Square::Numbers x[kSide];
      for (index_t i = 0; i < kSide; ++i) std::memcpy(&x[i], from[i] + k, sizeof x[i]);
      Square::turn(x);
      for (index_t i = 0; i < kSide; ++i) std::memcpy(to + (k + i) * kGroup<Real>, &x[i], sizeof x[i]);
    }
    for (index_t k = whole; k < n; ++k) {
      for (index_t i = 0; i < kSide; ++i) to[k * kGroup<Real> + i] = from[i][k];
    }
  }
}

/// The inverse, for rows that are wanted.
template <class Real>
FENCHEL_INLINE void turn_into_rows(const Real* lanes, const GroupRows<Real>& rows,
                                   const bool* wanted) noexcept {
  using Square = Quarter<Real>;
  constexpr index_t kSide = Square::kSide;
  const index_t whole = rows.n / kSide * kSide;
  for (index_t r = 0; r < rows.count; r += kSide) {
    const Real* from = lanes + r;
    const index_t count = std::min(kSide, rows.count - r);
    for (index_t k = 0; k < whole; k += kSide) {
      typename Square::Numbers x[kSide];
      for (index_t i = 0; i < kSide; ++i) std::memcpy(&x[i], from + (k + i) * kGroup<Real>, sizeof x[i]);
      Square::turn(x);
      for (index_t i = 0; i < count; ++i) {
        if (wanted[r + i]) std::memcpy(rows.p[r + i] + k, &x[i], sizeof x[i]);
      }
    }
    for (index_t k = whole; k < rows.n; ++k) {
      for (index_t i = 0; i < count; ++i) {
        if (wanted[r + i]) rows.p[r + i][k] = from[k * kGroup<Real> + i];
      }
    }
  }
}

template <class Real>
FENCHEL_INLINE Lanes<Real> larger(Lanes<Real> x, Lanes<Real> y) noexcept {
  Lanes<Real> result;
  for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { result[j] = x[j] > y[j] ? x[j] : y[j]; });
  return result;
}

/// Some of the largest scores of each row in its lane, distinct entries, and the largest one. A lane is bad
/// where the row has a NaN or +inf.
template <class Real>
struct Summits {
  index_t count;
  Lanes<Real> top;
  IntLanes<Real> bad;
};

/// Of turned rows: the maxima of every kMost-th column.
template <class Real>
FENCHEL_INLINE Summits<Real> summits_of_lanes(const Real* lanes, index_t n, Real* summits) noexcept {
  constexpr index_t kMost = 16;
  const index_t count = std::min(n, kMost);
  Summits<Real> found{count, -Real(kInfinity) - Lanes<Real>{}, {}};
  for (index_t first = 0; first < count; ++first) {
    Lanes<Real> highest = -Real(kInfinity) - Lanes<Real>{};
    for (index_t k = first; k < n; k += kMost) {
      const Lanes<Real> x = load(lanes + k * kGroup<Real>);
      highest = larger<Real>(x, highest);
      for_each_lane<Real>([&](index_t j)
                              FENCHEL_INLINE_LAMBDA { found.bad[j] |= !(x[j] < Real(kInfinity)); });
    }
    store(summits + first * kGroup<Real>, highest);
    found.top = larger<Real>(highest, found.top);
  }
  return found;
}

/// Of rows: the maxima in each lane of every other vector; `by_row` is memory for them.
template <class Real>
FENCHEL_INLINE Summits<Real> summits_of_rows(const GroupRows<Real>& rows, Real* by_row,
                                             Real* summits) noexcept {
  constexpr index_t kVectors = 2, kCount = kVectors * kLanes<Real>;
  const Lanes<Real> lowest = -Real(kInfinity) - Lanes<Real>{};
  Summits<Real> found{kCount, lowest, {}};
  const Real* parts[kGroup<Real>];
  for (index_t r = 0; r < rows.count; ++r) {
    const Real* const z = rows.z[r];
    Lanes<Real> even = lowest, odd = lowest;
    IntLanes<Real> bad{};
    const auto raise = [&](Lanes<Real>& highest, Lanes<Real> x) FENCHEL_INLINE_LAMBDA {
      highest = larger<Real>(x, highest);
      for_each_lane<Real>([&](index_t j) FENCHEL_INLINE_LAMBDA { bad[j] |= !(x[j] < Real(kInfinity)); });
    };
    index_t i = 0;
    for (; i + kCount <= rows.n; i += kCount) {
      raise(even, load(z + i));
      raise(odd, load(z + i + kLanes<Real>));
    }
    for (; i < rows.n; i += kLanes<Real>)
      raise(even, load_up_to(z + i, std::min(kLanes<Real>, rows.n - i), -Real(kInfinity)));
    store(by_row + r * kCount, even);
    store(by_row + r * kCount + kLanes<Real>, odd);
    found.bad[r] = any_of<Real>(bad);
    parts[r] = by_row + r * kCount;
  }
  turn_into_lanes(parts, rows.count, kCount, summits);
  for (index_t k = 0; k < kCount; ++k) found.top = larger<Real>(load(summits + k * kGroup<Real>), found.top);
  return found;
}

/// The bits of all lanes together.
template <class Real>
FENCHEL_INLINE std::uint64_t bits_of(IntLanes<Real> lanes) noexcept {
  IntLanes<double> eight;
  std::memcpy(&eight, &lanes, sizeof eight);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) | __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) | __builtin_shufflevector(four, four, 2, 3);
  const auto one = static_cast<std::uint64_t>(two[0] | two[1]);
  return sizeof(Real) == 8 ? one : (one | (one >> 32)) & 0xFFFFFFFF;
}

/// A bit for each score of as many vectors as a lane has bits for: lane j has the bit j of the first.
template <class Real>
struct ScoreBits {
  using Lane = std::conditional_t<sizeof(Real) == 4, std::int32_t, std::int64_t>;
  static constexpr index_t kScores = 8 * sizeof(Lane);
  Lane first[kLanes<Real>];
};
template <class Real>
inline constexpr ScoreBits<Real> kScoreBits = [] {
  ScoreBits<Real> bits{};
  for (index_t j = 0; j < kLanes<Real>; ++j) bits.first[j] = 1 << j;
  return bits;
}();

/// Which of up to kScores scores are above the cut.
template <class Real>
FENCHEL_INLINE std::uint64_t scores_above(const Real* z, index_t n, Real cut) noexcept {
  IntLanes<Real> flags{};
  for (index_t i = 0; i < n; i += kLanes<Real>) {
    const Lanes<Real> x = load_up_to(z + i, std::min(kLanes<Real>, n - i), -Real(kInfinity));
    IntLanes<Real> hits;
    for_each_lane<Real>([&](index_t j)
                            FENCHEL_INLINE_LAMBDA { hits[j] = x[j] > cut ? kScoreBits<Real>.first[j] : 0; });
    flags |= hits << static_cast<int>(i);
  }
  return bits_of<Real>(flags);
}

/// Lists one row's scores above the cut in its lane, less the top, and where they stand. Gives up past `most`
/// and returns -1. Branches do not wait for comparisons, and few depend on the scores.
template <class Real>
FENCHEL_INLINE index_t list_candidates(const Real* z, index_t n, Real cut, Real top, index_t most, Real* list,
                                       std::int32_t* places) noexcept {
  constexpr index_t kScores = ScoreBits<Real>::kScores, kAtOnce = 4;
  std::uint64_t words[kLongestInGroup / kScores];
  for (index_t first = 0; first < n; first += kScores)
    words[first / kScores] = scores_above(z + first, std::min(kScores, n - first), cut);
  index_t found = 0;
  for (index_t first = 0; first < n; first += kScores) {
    std::uint64_t above = words[first / kScores];
    const index_t next = found + std::popcount(above);
    if (next > most) return -1;
    do {
      for (index_t k = 0; k < kAtOnce; ++k) {
        places[found + k] = static_cast<std::int32_t>(first + std::countr_zero(above));
        above &= above - 1;
      }
      found += kAtOnce;
    } while (found < next);
    found = next;
  }
  for (index_t k = 0; k < found; ++k) list[k * kGroup<Real>] = z[places[k]] - top;
  return found;
}

}  // namespace fenchel::detail
