#include "distribution/euclidean/scan.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include <Eigen/Cholesky>
#include <Eigen/LU>

#include "distribution/euclidean/level_pieces.hpp"

namespace fenchel::detail {

using Eigen::Index, Eigen::MatrixXd, Eigen::VectorXd;

std::vector<double> scan_nodes(double lower, double upper, Index dimension) {
  const bool plane = dimension == 2;
  std::vector<double> nodes;
  if (!std::isinf(lower) && !std::isinf(upper)) {
    const int steps = plane ? 128 : 40;
    for (int i = 0; i <= steps; ++i) nodes.push_back(std::lerp(lower, upper, static_cast<double>(i) / steps));
    return nodes;
  }
  const auto add = [&](double t) {
    if (t >= lower && t <= upper) nodes.push_back(t);
  };
  const double octave = plane ? 0.5 : 1, first = plane ? -10 : -4, last = plane ? 40 : 20;
  for (const double base : {0.0, lower, upper}) {
    if (std::isinf(base)) continue;
    add(base);
    for (double k = first; k <= last; k += octave) {
      add(base - std::exp2(k));
      add(base + std::exp2(k));
    }
  }
  std::sort(nodes.begin(), nodes.end());
  nodes.erase(std::unique(nodes.begin(), nodes.end()), nodes.end());
  return nodes;
}

MatrixXd grid(const std::vector<std::vector<double>>& axes) {
  MatrixXd points(0, 1);
  for (const std::vector<double>& axis : axes) points = extended(points, axis);
  return points;
}

MatrixXd steps_around(Index dimension) {
  const std::vector<std::vector<double>> axes(static_cast<std::size_t>(dimension), {-1, 0, 1});
  const MatrixXd all = grid(axes);
  MatrixXd steps(dimension, all.cols() - 1);
  const Index middle = all.cols() / 2;
  steps << all.leftCols(middle), all.rightCols(middle);
  return steps;
}

MatrixXd quadratic_fit(const MatrixXd& steps) {
  const Index n = steps.rows();
  MatrixXd design(steps.cols(), n + n * (n + 1) / 2);
  design.leftCols(n) = steps.transpose();
  Index column = n;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j) design.col(column++) = steps.row(i).cwiseProduct(steps.row(j)).transpose();
  return (design.transpose() * design).inverse() * design.transpose();
}

VectorXd top_of_fit(const VectorXd& coefficients, Index n) {
  MatrixXd curvature(n, n);
  Index row = n;
  for (Index i = 0; i < n; ++i)
    for (Index j = 0; j <= i; ++j, ++row)
      curvature(i, j) = curvature(j, i) = (i == j ? -2 : -1) * coefficients[row];
  const Eigen::LLT<MatrixXd> factor(curvature);
  if (!coefficients.allFinite() || factor.info() != Eigen::Success) return VectorXd::Zero(n);
  const VectorXd top = factor.solve(coefficients.head(n));
  return top.allFinite() ? top : VectorXd::Zero(n);
}

MatrixXd directions(Index dimension) {
  const Index count = dimension == 2 ? 32 : 96;
  MatrixXd all(dimension, count);
  for (Index i = 0; i < count; ++i) {
    const double part = (static_cast<double>(i) + 0.5) / static_cast<double>(count);
    if (dimension == 2) {
      all.col(i) << std::cos(2 * std::numbers::pi * part), std::sin(2 * std::numbers::pi * part);
    } else {  // Fibonacci's
      const double z = 1 - 2 * part, r = std::sqrt(1 - z * z);
      const double angle = 2 * std::numbers::pi * static_cast<double>(i) / std::numbers::phi;
      all.col(i) << r * std::cos(angle), r * std::sin(angle), z;
    }
  }
  return all;
}

}  // namespace fenchel::detail
