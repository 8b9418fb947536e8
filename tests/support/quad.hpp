#pragma once

#include <cmath>

#include "fenchel/core/double_double.hpp"

namespace fenchel::testing {

/// 113 bits: about 34 digits.
__extension__ typedef __float128 Quad;

inline Quad quad(const DoubleDouble& x) { return Quad{x.high} + Quad{x.low}; }

/// |got - exact| / scale, as a double.
inline double error_of(const DoubleDouble& got, Quad exact, Quad scale) {
  return std::abs(static_cast<double>((quad(got) - exact) / scale));
}

}  // namespace fenchel::testing
