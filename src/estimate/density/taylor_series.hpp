#pragma once

#include <array>

#include "estimate/density/kernel.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

using TaylorCoefficients = std::array<double, kTaylorTerms>;

/// The Taylor coefficients of profile(inverse (d - y)^2) in y, on the line. They end where the kernel is a
/// polynomial. f = (1 - (d - y)^2)^e has (1 - (d - y)^2) f' = 2 e (d - y) f, and e^{-(d - y)^2} has f' = 2 (d
/// - y) f, which give each coefficient from two before (docs/math.md 10.2). Returns their number.
index_t taylor_coefficients(const RadialKernel& kernel, double d, TaylorCoefficients& out) noexcept;

}  // namespace fenchel::detail
