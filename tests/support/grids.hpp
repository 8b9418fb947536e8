#pragma once

#include <array>
#include <cmath>
#include <limits>

#include "fenchel/core/infinity.hpp"

namespace fenchel::testing {

inline constexpr double kInf = kInfinity;
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

/// Straddles 1 closely, names the exact powers, and goes far out on both sides.
inline const std::array kAlphas{0.1,
                                0.5,
                                0.9,
                                1 - 1e-9,
                                std::nextafter(1.0, 0.0),
                                1.0,
                                std::nextafter(1.0, 2.0),
                                1 + 1e-8,
                                1.01,
                                1.1,
                                1.25,
                                1.3,
                                4.0 / 3,
                                1.5,
                                1.7,
                                1.99,
                                2.0,
                                2.01,
                                3.0,
                                5.0,
                                50.0,
                                1e6};

}  // namespace fenchel::testing
