#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "distribution/euclidean/multivariate_numeric_table.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/contour.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

/// How far below the top of the score the smallest set of this mass reaches.
double height_of_mass(const MultivariateNumericDensity::Table& table, double mass) {
  constexpr double kAccuracy = 1e-4;
  detail::LevelRegion part = table.region;
  const auto density = [&](const MatrixXd& t, const VectorXd& g) {
    MatrixXd values(1, t.cols());
    for (Index i = 0; i < t.cols(); ++i) values(0, i) = std::exp(table.log_density(g[i]));
    return values;
  };
  // By halving the logarithm of the height, which is huge where tails are heavy.
  double lower = table.region.height * 0x1p-60, upper = table.region.height;
  while (upper > lower * (1 + kAccuracy)) {
    part.height = upper > 2 * lower ? std::sqrt(lower) * std::sqrt(upper) : (lower + upper) / 2;
    const double found = detail::LevelCubature(part, density, 0, kAccuracy).whole().value[0];
    (found < mass ? lower : upper) = part.height;
  }
  return upper;
}

}  // namespace

std::vector<MatrixXd> contours(const MultivariateNumericDensity& p, double mass, index_t cells) {
  const auto& table = p.table();
  if (p.dimension() != 2) throw_invalid_argument("contours", "the dimension", "must be 2", p.dimension());
  if (!(mass > 0 && mass <= 1)) throw_domain_error("contours", "mass", "must be in (0, 1]", mass);
  if (cells < 1) throw_invalid_argument("contours", "cells", "must be positive", cells);
  if (mass == 1 && table.nearer) return {};
  const double height = mass == 1 ? table.region.height : height_of_mass(table, mass);
  const detail::Frame& frame = table.region.frame;
  const VectorXd &lower = table.region.lower, &upper = table.region.upper;
  constexpr double kLowest = -1e300;  // a mask has an edge, too
  const auto values = [&](std::span<const PlanePoint> points) {
    MatrixXd u(2, static_cast<Index>(points.size()));
    for (std::size_t i = 0; i < points.size(); ++i) u.col(static_cast<Index>(i)) << points[i].x, points[i].y;
    const VectorXd found = table.region.g(frame.points(u));
    std::vector<double> all;
    for (const double value : found) all.push_back(std::max(value, kLowest));
    return all;
  };
  std::vector<MatrixXd> lines;
  for (const PlaneLine& line : contour_lines(values, {lower[0], lower[1]}, {upper[0], upper[1]}, -height,
                                             static_cast<int>(std::min<index_t>(cells, 4096)))) {
    MatrixXd u(2, static_cast<Index>(line.size()));
    for (std::size_t i = 0; i < line.size(); ++i) u.col(static_cast<Index>(i)) << line[i].x, line[i].y;
    // A frame that turns left into right turns the line.
    const MatrixXd t = frame.points(u);
    lines.push_back(frame.basis(0, 0) * frame.basis(1, 1) > frame.basis(0, 1) * frame.basis(1, 0)
                        ? t
                        : MatrixXd(t.rowwise().reverse()));
  }
  return lines;
}

}  // namespace fenchel
