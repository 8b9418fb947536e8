#pragma once

#include <Eigen/Cholesky>
#include <Eigen/Core>
#include <cmath>
#include <numbers>

#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "plot/mark.hpp"

namespace fenchel::plot {

/// The boundary of an ellipse in the plane, as a closed line.
[[nodiscard]] inline Path outline(const Ellipsoid& ellipse) {
  constexpr int kSteps = 90;
  const Eigen::Matrix2d factor = Eigen::Matrix2d(ellipse.shape).llt().matrixL();
  Path points;
  for (int i = 0; i < kSteps; ++i) {
    const double angle = 2 * std::numbers::pi * i / kSteps;
    const Eigen::Vector2d point =
        ellipse.centre +
        std::sqrt(ellipse.radius2) * (factor * Eigen::Vector2d(std::cos(angle), std::sin(angle)));
    points.push_back({point[0], point[1]});
  }
  points.push_back(points.front());
  return points;
}

}  // namespace fenchel::plot
