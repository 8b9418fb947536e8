#pragma once

#include <algorithm>

#include "core/lanes/lanes.hpp"
#include "fenchel/core/infinity.hpp"

/// Loops over a row that every kernel needs. What compares or selects is written as a loop over the lanes:
/// GCC turns such a loop into the vectors of each instruction set, and a comparison of 64-byte vectors into
/// scalars.
namespace fenchel::detail {

/// for (lane) body(lane), kept a loop until it is vectorised.
template <class Real, class Body>
FENCHEL_INLINE void for_each_lane(Body body) noexcept {
#pragma GCC unroll 1
  for (index_t j = 0; j < kLanes<Real>; ++j) body(j);
}

/// The sum of eight doubles, by halves.
FENCHEL_INLINE double sum_of_doubles(Lanes<double> x) noexcept {
  const auto four = __builtin_shufflevector(x, x, 0, 1, 2, 3) + __builtin_shufflevector(x, x, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) + __builtin_shufflevector(four, four, 2, 3);
  return two[0] + two[1];
}

/// The sum of the lanes, in double.
template <class Real>
FENCHEL_INLINE double sum_of(Lanes<Real> x) noexcept {
  if constexpr (sizeof(Real) == 8) {
    return sum_of_doubles(x);
  } else {
    const auto low = __builtin_shufflevector(x, x, 0, 1, 2, 3, 4, 5, 6, 7);
    const auto high = __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15);
    return sum_of_doubles(__builtin_convertvector(low, Lanes<double>) +
                          __builtin_convertvector(high, Lanes<double>));
  }
}

/// The largest lane; there must be no NaN.
template <class Real>
FENCHEL_INLINE Real largest_of(Lanes<Real> x) noexcept {
  Real largest = x[0];
  for (index_t j = 1; j < kLanes<Real>; ++j) largest = x[j] > largest ? x[j] : largest;
  return largest;
}

/// Whether any bit is set.
template <class Real>
FENCHEL_INLINE bool any_of(IntLanes<Real> lanes) noexcept {
  IntLanes<double> eight;
  std::memcpy(&eight, &lanes, sizeof eight);
  const auto four =
      __builtin_shufflevector(eight, eight, 0, 1, 2, 3) | __builtin_shufflevector(eight, eight, 4, 5, 6, 7);
  const auto two = __builtin_shufflevector(four, four, 0, 1) | __builtin_shufflevector(four, four, 2, 3);
  return (two[0] | two[1]) != 0;
}

/// visit(first, count): whole vectors, then what is left (count < kLanes).
template <class Real, class Visit>
FENCHEL_INLINE void for_each_vector(index_t n, Visit visit) noexcept {
  index_t i = 0;
  for (; i + kLanes<Real> <= n; i += kLanes<Real>) visit(i, kLanes<Real>);
  if (i < n) visit(i, n - i);
}

template <class Real>
FENCHEL_INLINE Lanes<Real> load_up_to(const Real* from, index_t count, Real fill) noexcept {
  return count == kLanes<Real> ? load(from) : load_some(from, count, fill);
}

template <class Real>
FENCHEL_INLINE void store_up_to(Real* to, Lanes<Real> lanes, index_t count) noexcept {
  if (count == kLanes<Real>) {
    store(to, lanes);
  } else {
    store_some(to, lanes, count);
  }
}

/// A sum over a long row: lanes add up kRun vectors, double adds up the runs, so that the rounding of a float
/// row of a million entries stays that of a few dozen additions.
template <class Real>
class RunningSum {
 public:
  static constexpr int kRun = 32;

  FENCHEL_INLINE void add(Lanes<Real> lanes) noexcept {
    lanes_ += lanes;
    if (++count_ == kRun) flush();
  }
  /// The sum of kRun vectors, or of fewer.
  FENCHEL_INLINE void add_run(Lanes<Real> lanes) noexcept {
    lanes_ = lanes;
    flush();
  }
  FENCHEL_INLINE double total() noexcept {
    flush();
    return total_;
  }

 private:
  FENCHEL_INLINE void flush() noexcept {
    const double term = sum_of<Real>(lanes_) - lost_, next = total_ + term;
    lost_ = (next - total_) - term;
    total_ = next;
    lanes_ = Lanes<Real>{};
    count_ = 0;
  }
  Lanes<Real> lanes_{};
  double total_ = 0, lost_ = 0;
  int count_ = 0;
};

/// Appends to `places` the i in [first, first + size) with hit(i); size is at most kPlaceBlock. Flags are
/// made for the whole block in vectors and looked at eight at a time: few are set.
inline constexpr index_t kPlaceBlock = 128;
template <class Hit>
FENCHEL_INLINE index_t append_places(index_t first, index_t size, Hit hit, index_t* places,
                                     index_t found) noexcept {
  constexpr index_t kWord = 8;
  std::uint8_t flags[kPlaceBlock];
  for (index_t i = 0; i < size; ++i) flags[i] = hit(first + i);
  for (index_t i = size; i % kWord != 0; ++i) flags[i] = 0;
  index_t words[kPlaceBlock / kWord];
  index_t word_count = 0;
  for (index_t i = 0; i < size; i += kWord) {
    std::uint64_t word;
    std::memcpy(&word, flags + i, sizeof word);
    words[word_count] = i;
    word_count += word != 0;
  }
  for (index_t w = 0; w < word_count; ++w) {
    for (index_t k = words[w]; k < words[w] + kWord; ++k) {
      places[found] = first + k;
      found += flags[k];
    }
  }
  return found;
}

/// The sum of x - offset, in double.
template <class Real>
FENCHEL_INLINE double sum_in_double(const Real* x, index_t n, double offset) noexcept {
  constexpr index_t kParts = 8;
  double parts[kParts] = {};
  index_t i = 0;
  for (; i + kParts <= n; i += kParts) {
    for (index_t j = 0; j < kParts; ++j) parts[j] += double{x[i + j]} - offset;
  }
  for (; i < n; ++i) parts[0] += double{x[i]} - offset;
  double sum = 0;
  for (const double part : parts) sum += part;
  return sum;
}

template <class Real>
FENCHEL_INLINE void fill(Real* p, index_t n, Real value) noexcept {
  for (index_t i = 0; i < n; ++i) p[i] = value;
}

}  // namespace fenchel::detail
