#pragma once

#include <array>
#include <vector>

#include "distribution/euclidean/level_pieces.hpp"
#include "fenchel/core/function_ref.hpp"

namespace fenchel::detail {

/// A part of an axis, u = origin + width s^power for s in [from, to], with the integral over it of what the
/// rest of the space holds: one value for each component of the integrand.
struct AxisPanel {
  double origin, width;
  int power;
  double from, to;
  Eigen::VectorXd value{};
  double error = 0, scale = 0;
  double inner = 0;                  ///< the error of the values
  std::array<double, 15> density{};  ///< the first component by s, at Kronrod's nodes in rising order

  /// u at node x of [-1, 1], and |du / dx|.
  [[nodiscard]] double at(double x) const;
  [[nodiscard]] double slope(double x) const;
};

/// An integral along an axis: its largest error, the largest integral of an absolute value, and what the
/// errors of the values add.
struct AxisSum {
  Eigen::VectorXd value;
  double error = 0, scale = 0, inner = 0;
  std::vector<AxisPanel> panels{};
};

/// Integrals over a region by lines within lines: along each the pieces inside the region are found, and
/// adaptive Gauss-Kronrod panels take them, in a variable in which a power d^exponent of the distance to an
/// edge is smooth.
class LevelCubature {
 public:
  /// Values at points of the region, columns, of which g is known: a row for each component.
  using Integrand = FunctionRef<Eigen::MatrixXd(const Eigen::MatrixXd& t, const Eigen::VectorXd& g)>;

  /// `exponent` is that of the integrand at an edge; each integral after the first adds 1/2. The error aimed
  /// at is accuracy times the largest integral of an absolute value.
  LevelCubature(const LevelRegion& region, Integrand integrand, double exponent, double accuracy);

  /// Each line is then measured by itself, and its result does not depend on lines beside it.
  void measure_lines_apart() noexcept { apart_ = true; }

  /// Over the region.
  [[nodiscard]] AxisSum whole();
  /// Over the axes from `axis` on, for each column of `prefixes`, which has the coordinates before.
  [[nodiscard]] std::vector<AxisSum> along(Eigen::Index axis, const Eigen::MatrixXd& prefixes);

  /// Whether the region goes on beyond its box, as far as it was seen.
  [[nodiscard]] bool is_cut() const { return pieces_.is_cut(); }

 private:
  struct Values {
    Eigen::MatrixXd value;
    Eigen::VectorXd error;
  };
  [[nodiscard]] std::vector<AxisSum> along_some(Eigen::Index axis, const Eigen::MatrixXd& prefixes);
  [[nodiscard]] Values values(Eigen::Index axis, const Eigen::MatrixXd& nodes);
  void add_panels(Eigen::Index axis, const Interval& piece, std::vector<AxisPanel>& panels) const;
  [[nodiscard]] int power(Eigen::Index axis) const;

  const LevelRegion& region_;
  Integrand integrand_;
  double exponent_, accuracy_;
  bool apart_ = false;
  LevelPieces pieces_;
  Eigen::VectorXd scale_;  // the largest scale along each axis so far
};

}  // namespace fenchel::detail
