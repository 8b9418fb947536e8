#pragma once

/// `Integers` and `Naturals`, with the counting measure.

#include <cstddef>
#include <limits>

#include "fenchel/core/index.hpp"

namespace fenchel {

/// All integers, with the counting measure.
struct Integers {
  friend bool operator==(Integers, Integers) = default;
};

/// 0, 1, 2, ..., with the counting measure.
struct Naturals {
  friend bool operator==(Naturals, Naturals) = default;
};

/// The integers from first to last, both included: the support of a sparse distribution on them.
struct IntegerRange {
  index_t first, last;
  /// How many there are; the largest index_t where there are more.
  [[nodiscard]] constexpr index_t size() const noexcept {
    constexpr auto kMost = static_cast<std::size_t>(std::numeric_limits<index_t>::max());
    const std::size_t steps = static_cast<std::size_t>(last) - static_cast<std::size_t>(first);
    return static_cast<index_t>(steps < kMost ? steps + 1 : kMost);
  }
  [[nodiscard]] constexpr bool contains(index_t t) const noexcept { return t >= first && t <= last; }
  friend bool operator==(const IntegerRange&, const IntegerRange&) = default;
};

}  // namespace fenchel
