#pragma once

namespace fenchel::detail {

/// Of one row's loss as a function of the linear predictor: its expected second derivative and the variance
/// of its first, under the fitted model.
struct Spread {
  double curvature, variance;
};

}  // namespace fenchel::detail
