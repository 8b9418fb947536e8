#pragma once

#include <functional>
#include <vector>

#include <Eigen/Core>

namespace fenchel::detail {

/// A function of points, which are the columns of a matrix.
using PointFunction = std::function<Eigen::VectorXd(const Eigen::MatrixXd&)>;

/// Coordinates u of points t = centre + basis u; where they are stretched, t = centre + basis sinh(u).
struct Frame {
  Eigen::VectorXd centre;
  Eigen::MatrixXd basis;
  bool stretched = false;

  [[nodiscard]] Eigen::MatrixXd points(const Eigen::MatrixXd& u) const;
  [[nodiscard]] Eigen::MatrixXd coordinates(const Eigen::MatrixXd& t) const;
  /// The volume dt / du, one for each column.
  [[nodiscard]] Eigen::VectorXd volume(const Eigen::MatrixXd& u) const;
};

/// The points of a box in a frame at which a score g is at least -height.
struct LevelRegion {
  PointFunction g;
  Frame frame;
  Eigen::VectorXd lower, upper;         ///< the box, in coordinates of the frame
  Eigen::VectorXd least, most;          ///< the ends of the domain
  std::vector<Eigen::VectorXd> maxima;  ///< of g, in the same coordinates: every scan goes through them
  double height;

  [[nodiscard]] Eigen::Index dimension() const { return lower.size(); }
  /// g + height at the points of these coordinates.
  [[nodiscard]] Eigen::VectorXd excess(const Eigen::MatrixXd& u) const;
  /// The same region with its axes in the order 1, ..., N - 1, 0.
  [[nodiscard]] LevelRegion rotated() const;
};

}  // namespace fenchel::detail
