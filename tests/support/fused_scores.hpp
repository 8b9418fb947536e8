#pragma once

#include <cmath>

#include "fenchel/score/function_score.hpp"

namespace fenchel::testing {

/// Several modes on the line.
inline FunctionScore waves() {
  return FunctionScore([](double t) { return 2 * std::cos(2 * t) - t * t / 80; });
}

}  // namespace fenchel::testing
