#include "distribution/euclidean/sphere_rule.hpp"

#include <Eigen/Eigenvalues>
#include <cmath>
#include <numbers>

namespace fenchel::detail {
namespace {

/// Gauss's rule for the law of one coordinate of a uniform point on the sphere of R^n, n > 2, from the
/// recurrence of Gegenbauer's polynomials [G. Golub, J. Welsch, Mathematics of Computation 23 (1969)].
struct CoordinateRule {
  Eigen::VectorXd nodes, weights;
  CoordinateRule(index_t n, index_t m) {
    const double lambda = static_cast<double>(n) / 2 - 1;
    Eigen::VectorXd off_diagonal(m - 1);
    for (index_t i = 0; i < m - 1; ++i) {
      const auto k = static_cast<double>(i + 1);
      off_diagonal[i] = std::sqrt(k * (k + 2 * lambda - 1) / (4 * (k + lambda) * (k + lambda - 1)));
    }
    Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd> eigen;
    eigen.computeFromTridiagonal(Eigen::VectorXd::Zero(m), off_diagonal);
    nodes = eigen.eigenvalues();
    weights = eigen.eigenvectors().row(0).array().square();
  }
};

}  // namespace

double sphere_rule_size(index_t n, index_t m) {
  return n == 1 ? 2 : 2 * std::pow(static_cast<double>(m), static_cast<double>(n - 1));
}

SphereRule sphere_rule(index_t n, index_t m) {
  if (n == 1) return {Eigen::RowVector2d(1, -1), Eigen::Vector2d(0.5, 0.5)};
  if (n == 2) {
    const index_t count = 2 * m;
    Eigen::MatrixXd points(2, count);
    for (index_t k = 0; k < count; ++k) {
      const double angle = std::numbers::pi * (static_cast<double>(k) + 0.5) / static_cast<double>(m);
      points.col(k) << std::cos(angle), std::sin(angle);
    }
    return {std::move(points), Eigen::VectorXd::Constant(count, 1 / static_cast<double>(count))};
  }
  const SphereRule lower = sphere_rule(n - 1, m);
  const CoordinateRule coordinate(n, m);
  const index_t block = lower.weights.size();
  SphereRule rule{Eigen::MatrixXd(n, m * block), Eigen::VectorXd(m * block)};
  for (index_t k = 0; k < m; ++k) {
    const double x = coordinate.nodes[k];
    rule.points.block(0, k * block, n - 1, block) = std::sqrt((1 - x) * (1 + x)) * lower.points;
    rule.points.block(n - 1, k * block, 1, block).setConstant(x);
    rule.weights.segment(k * block, block) = coordinate.weights[k] * lower.weights;
  }
  return rule;
}

}  // namespace fenchel::detail
