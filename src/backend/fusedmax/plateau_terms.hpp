#pragma once

#include "fenchel/core/config.hpp"

namespace fenchel::detail {

/// How the edge to a neighbour moves a plateau's sum with gamma [docs/math.md 6.1].
template <class Real>
FENCHEL_HD inline double pull(Real own, Real neighbour, double weight) noexcept {
  return neighbour > own ? weight : -weight;
}

}  // namespace fenchel::detail
