#include "distribution/euclidean/level_region.hpp"

#include <cmath>
#include <utility>

#include <Eigen/LU>

namespace fenchel::detail {

Eigen::MatrixXd Frame::points(const Eigen::MatrixXd& u) const {
  const Eigen::MatrixXd steps = stretched ? u.unaryExpr([](double x) { return std::sinh(x); }).eval() : u;
  // Without Eigen's kernels and threads, which are for larger matrices.
  return basis.lazyProduct(steps).colwise() + centre;
}

Eigen::MatrixXd Frame::coordinates(const Eigen::MatrixXd& t) const {
  const Eigen::MatrixXd inverse = basis.inverse(), steps = t.colwise() - centre;
  Eigen::MatrixXd u = inverse.lazyProduct(steps);
  if (stretched) u = u.unaryExpr([](double x) { return std::asinh(x); });
  return u;
}

Eigen::VectorXd Frame::volume(const Eigen::MatrixXd& u) const {
  const double determinant = std::abs(basis.determinant());
  if (!stretched) return Eigen::VectorXd::Constant(u.cols(), determinant);
  return determinant * u.unaryExpr([](double x) { return std::cosh(x); }).colwise().prod().transpose();
}

Eigen::VectorXd LevelRegion::excess(const Eigen::MatrixXd& u) const {
  return g(frame.points(u)).array() + height;
}

LevelRegion LevelRegion::rotated() const {
  const Eigen::Index n = dimension();
  LevelRegion other = *this;
  for (Eigen::Index i = 0; i < n; ++i) {
    const Eigen::Index from = (i + 1) % n;
    other.frame.basis.col(i) = frame.basis.col(from);
    other.lower[i] = lower[from];
    other.upper[i] = upper[from];
    other.least[i] = least[from];
    other.most[i] = most[from];
    for (std::size_t k = 0; k < maxima.size(); ++k) other.maxima[k][i] = maxima[k][from];
  }
  return other;
}

}  // namespace fenchel::detail
