#pragma once

#include <algorithm>
#include <limits>

#include "core/lanes.hpp"

/// Loops over a row that every kernel needs.
namespace fenchel::detail {

template <class Real>
inline constexpr Real kInfinity = std::numeric_limits<Real>::infinity();

template <class Real>
FENCHEL_INLINE bool any(IntLanes<Real> mask) noexcept {
  IntLanes<double> words;
  std::memcpy(&words, &mask, sizeof words);
  return ((words[0] | words[1]) | (words[2] | words[3]) | (words[4] | words[5]) | (words[6] | words[7])) != 0;
}

template <class Real>
FENCHEL_INLINE Real largest(Lanes<Real> lanes) noexcept {
  Real result = lanes[0];
  for (index_t j = 1; j < kLanes<Real>; ++j) result = std::max(result, lanes[j]);
  return result;
}

/// The sum of the lanes in double, by halves.
template <class Real>
FENCHEL_INLINE double sum_of(Lanes<Real> lanes) noexcept {
  double part[kLanes<Real>];
  for (index_t j = 0; j < kLanes<Real>; ++j) part[j] = lanes[j];
  for (index_t width = kLanes<Real> / 2; width > 0; width /= 2) {
    for (index_t j = 0; j < width; ++j) part[j] += part[j + width];
  }
  return part[0];
}

template <class Real>
FENCHEL_INLINE Lanes<Real> broadcast(Real value) noexcept {
  return value - Lanes<Real>{};
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
  FENCHEL_INLINE void add(Lanes<Real> lanes) noexcept {
    lanes_ += lanes;
    if (++count_ == kRun) flush();
  }
  FENCHEL_INLINE double total() noexcept {
    flush();
    return total_;
  }

 private:
  static constexpr int kRun = 32;
  FENCHEL_INLINE void flush() noexcept {
    total_ += sum_of<Real>(lanes_);
    lanes_ = Lanes<Real>{};
    count_ = 0;
  }
  Lanes<Real> lanes_{};
  double total_ = 0;
  int count_ = 0;
};

}  // namespace fenchel::detail
