#include "fenchel/estimate/fit/elliptical_covariance.hpp"

#include <cmath>
#include <vector>

namespace fenchel {

EllipticalCovariance::Place EllipticalCovariance::place(index_t parameter) const {
  if (parameter < first_) return {Place::kAlpha, 0, 0};
  if (parameter < first_ + n()) return {Place::kMean, parameter - first_, 0};
  const index_t k = parameter - first_ - n();
  // The triangle before row i has i (i + 1) / 2 entries; the root is exact to less than one.
  auto i = static_cast<index_t>((std::sqrt(8 * static_cast<double>(k) + 1) - 1) / 2);
  while (i * (i + 1) / 2 > k) --i;
  while ((i + 1) * (i + 2) / 2 <= k) ++i;
  return {Place::kScale, i, k - i * (i + 1) / 2};
}

double EllipticalCovariance::entry(const Place& a, const Place& b) const {
  const auto times = [](double error, double s) { return s == 0 ? 0 : error * s; };
  const auto Sigma = [this](index_t i, index_t j) { return Sigma_(i, j); };
  if (a.kind > b.kind) return entry(b, a);
  double value = errors_.mean_scale;
  if (b.kind == Place::kAlpha) value = errors_.alpha;
  if (a.kind == Place::kMean && b.kind == Place::kMean) value = covariance_(a.i, b.i);
  if (a.kind == Place::kAlpha && b.kind == Place::kScale) value = times(errors_.alpha_scale, Sigma(b.i, b.j));
  if (a.kind == Place::kScale)
    value = times(errors_.pairs, Sigma(a.i, b.i) * Sigma(a.j, b.j) + Sigma(a.i, b.j) * Sigma(a.j, b.i)) +
            times(errors_.whole, Sigma(a.i, a.j) * Sigma(b.i, b.j));
  return value / weight_;
}

Eigen::VectorXd EllipticalCovariance::diagonal() const {
  Eigen::VectorXd result(rows());
  for (index_t k = 0; k < rows(); ++k) result[k] = (*this)(k, k);
  return result;
}

Eigen::MatrixXd EllipticalCovariance::matrix() const {
  std::vector<Place> places;
  for (index_t k = 0; k < rows(); ++k) places.push_back(place(k));
  return Eigen::MatrixXd::NullaryExpr(rows(), cols(), [&](index_t row, index_t column) {
    return entry(places[static_cast<std::size_t>(row)], places[static_cast<std::size_t>(column)]);
  });
}

}  // namespace fenchel
