#pragma once

#include <Eigen/Core>
#include <cmath>

namespace fenchel::detail {

/// Divides a row of scores by the temperature. Below 1 the largest score is taken away first, which changes
/// no prediction: z / temperature may overflow, and a score of +inf has no prediction.
template <class Row>
void cool(Row&& scores, double temperature) {
  if (temperature < 1) {
    const double top = scores.maxCoeff();
    if (std::isfinite(top)) scores.array() -= top;
  }
  scores /= temperature;
}

}  // namespace fenchel::detail
