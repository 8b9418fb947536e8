#pragma once

#include <limits>

#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::python {

/// An integer, infinite where it is an end of a support that has none.
[[nodiscard]] inline double to_number(index_t t) noexcept {
  if (t == std::numeric_limits<index_t>::max()) return kInfinity;
  return t == std::numeric_limits<index_t>::min() ? -kInfinity : static_cast<double>(t);
}

}  // namespace fenchel::python
