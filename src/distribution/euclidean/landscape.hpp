#pragma once

#include <optional>
#include <vector>

#include "distribution/euclidean/level_region.hpp"
#include "fenchel/domain/box.hpp"

namespace fenchel::detail {

/// What scans learn of a score f on a box of R^N, N = 2 or 3: its top, its local maxima, and a frame in which
/// the highest of them is round. A finite axis is cut evenly, an infinite one goes out geometrically from 0.
class Landscape {
 public:
  /// Throws std::domain_error where f is NaN or +infinity, where it is -infinity everywhere, and where it is
  /// largest at the end of an infinite axis.
  Landscape(PointFunction f, Box domain, double temperature);

  /// f / T less its top; -infinity outside of the domain.
  [[nodiscard]] Eigen::VectorXd operator()(const Eigen::MatrixXd& t) const;
  [[nodiscard]] double top() const noexcept { return top_; }
  [[nodiscard]] double temperature() const noexcept { return temperature_; }
  [[nodiscard]] const Eigen::VectorXd& argmax() const noexcept { return frame_.centre; }
  [[nodiscard]] const std::vector<Eigen::VectorXd>& maxima() const noexcept { return maxima_; }
  [[nodiscard]] const Box& domain() const noexcept { return domain_; }
  /// The volume of the frame's unit cube.
  [[nodiscard]] double unit_volume() const;

  /// The points at which the score is at least -height, in a box that is larger; none where they do not end.
  /// In a stretched frame the box ends at e^130 units of the frame at the latest. `g` is the landscape
  /// itself.
  [[nodiscard]] std::optional<LevelRegion> region(PointFunction g, double height, bool stretched) const;

  /// Looks evenly at a region, and says whether there are new maxima.
  bool look_closer(const LevelRegion& region);

 private:
  [[nodiscard]] Eigen::VectorXd checked(const Eigen::MatrixXd& t) const;
  /// Local maxima among the nodes of a grid in a frame, polished, and added unless they are known.
  bool add_maxima(const Frame& frame, const std::vector<std::vector<double>>& axes);
  void settle_top();
  void find_frame();
  [[nodiscard]] Eigen::VectorXd radii(const Eigen::VectorXd& from, const Eigen::MatrixXd& along, double fall,
                                      bool last) const;

  PointFunction f_;
  Box domain_;
  double temperature_, top_, lowest_;
  std::vector<Eigen::VectorXd> maxima_;
  Eigen::MatrixXd high_;  // points of the first scan that are among the highest
  Eigen::VectorXd high_values_;
  Frame frame_;
  Eigen::VectorXd frame_scale_;  // of the axes of a box, what rounding is measured by
};

}  // namespace fenchel::detail
