#pragma once

#include "fenchel/loss/metric.hpp"
#include "plot/mark.hpp"

namespace fenchel::plot {

/// A geodesic in the half-plane of mu and sigma, as a line.
[[nodiscard]] inline Path trace(const Geodesic& geodesic) {
  constexpr int kSteps = 100;
  Path points;
  for (int i = 0; i <= kSteps; ++i) {
    const HalfPlanePoint p = geodesic.at(static_cast<double>(i) / kSteps);
    points.push_back({p.mu, p.sigma});
  }
  return points;
}

}  // namespace fenchel::plot
