#pragma once

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
  [[nodiscard]] constexpr index_t size() const noexcept { return last - first + 1; }
  [[nodiscard]] constexpr bool contains(index_t t) const noexcept { return t >= first && t <= last; }
  friend bool operator==(const IntegerRange&, const IntegerRange&) = default;
};

}  // namespace fenchel
