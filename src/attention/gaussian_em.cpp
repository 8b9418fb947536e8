#include "attention/gaussian_em.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "score/factorizations.hpp"

namespace fenchel::detail {
namespace {

index_t count_distinct(const Eigen::MatrixXd& points) {
  std::vector<index_t> order(static_cast<std::size_t>(points.cols()));
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<index_t>(i);
  const auto less = [&points](index_t a, index_t b) {
    const auto x = points.col(a), y = points.col(b);
    return std::lexicographical_compare(x.begin(), x.end(), y.begin(), y.end());
  };
  std::sort(order.begin(), order.end(), less);
  index_t distinct = 1;
  for (std::size_t i = 1; i < order.size(); ++i) distinct += less(order[i - 1], order[i]);
  return distinct;
}

using Eigensystem = Eigen::SelfAdjointEigenSolver<Eigen::MatrixXd>;

/// The covariance with eigenvalues raised to the floor: of all matrices above the floor the one of greatest
/// likelihood, so that EM stays monotone.
Eigen::MatrixXd raised(const Eigen::MatrixXd& covariance, double floor) {
  const Eigensystem eigen(covariance);
  if (eigen.eigenvalues()[0] >= floor) return covariance;
  const Eigen::VectorXd values = eigen.eigenvalues().cwiseMax(floor);
  return eigen.eigenvectors() * values.asDiagonal() * eigen.eigenvectors().transpose();
}

/// Square distances of whitened points from one of them.
Eigen::RowVectorXd distances2(const Eigen::MatrixXd& white, index_t from) {
  return (white.colwise() - white.col(from)).colwise().squaredNorm();
}

/// Points that may become centres: all, or those at even steps of the cumulative weight.
std::vector<index_t> candidates(const Eigen::VectorXd& weights) {
  constexpr index_t kMost = 512;
  std::vector<index_t> found;
  double below = 0;
  for (index_t i = 0; i < weights.size(); ++i) {
    const double step = std::floor(below * kMost);
    below += weights[i];
    if (weights.size() <= kMost || std::floor(below * kMost) > step) found.push_back(i);
  }
  return found;
}

/// Which centre each point belongs to at the start. Centres are chosen one by one, each the candidate that
/// leaves the least sum of weight times square distance to the nearest centre; then each is chosen again.
std::vector<index_t> start_labels(const WeightedPoints& points, index_t components) {
  const Eigen::MatrixXd white = points.whitening * points.offsets;
  const std::vector<index_t> choices = candidates(points.weights);
  std::vector<Eigen::RowVectorXd> nearest;  // of each centre
  const auto best_beside = [&](index_t except) {
    Eigen::RowVectorXd least = Eigen::RowVectorXd::Constant(white.cols(), kInfinity), found = least;
    for (index_t k = 0; k < static_cast<index_t>(nearest.size()); ++k)
      if (k != except) least = least.cwiseMin(nearest[static_cast<std::size_t>(k)]);
    double best = kInfinity;
    for (const index_t i : choices) {
      const Eigen::RowVectorXd here = distances2(white, i);
      const double left = least.cwiseMin(here).dot(points.weights);
      if (left < best) {
        best = left;
        found = here;
      }
    }
    return found;
  };
  for (index_t k = 0; k < components; ++k) nearest.push_back(best_beside(-1));
  for (index_t k = 0; k < components && components > 1; ++k)
    nearest[static_cast<std::size_t>(k)] = best_beside(k);
  std::vector<index_t> labels(static_cast<std::size_t>(white.cols()), 0);
  for (std::size_t i = 0; i < labels.size(); ++i) {
    const auto at = static_cast<index_t>(i);
    for (std::size_t k = 1; k < nearest.size(); ++k)
      if (nearest[k][at] < nearest[static_cast<std::size_t>(labels[i])][at])
        labels[i] = static_cast<index_t>(k);
  }
  return labels;
}

/// The moments of the points under K x L responsibilities; components without weight are left out.
GaussianMixture maximise(const WeightedPoints& points, const Eigen::MatrixXd& responsibilities) {
  constexpr double kEmpty = std::numeric_limits<double>::epsilon();
  const Eigen::VectorXd mass = responsibilities * points.weights;
  GaussianMixture found;
  std::vector<index_t> kept;
  for (index_t k = 0; k < mass.size(); ++k)
    if (mass[k] > kEmpty) kept.push_back(k);
  const auto size = static_cast<index_t>(kept.size());
  found.weights.resize(size);
  found.means.resize(points.offsets.rows(), size);
  for (index_t k = 0; k < size; ++k) {
    const index_t row = kept[static_cast<std::size_t>(k)];
    const Eigen::VectorXd share =
        responsibilities.row(row).transpose().cwiseProduct(points.weights) / mass[row];
    found.weights[k] = mass[row];
    found.means.col(k) = points.offsets * share;
    const Eigen::MatrixXd about = points.offsets.colwise() - found.means.col(k);
    found.covariances.push_back(raised(about * share.asDiagonal() * about.transpose(), points.floor));
  }
  found.weights /= found.weights.sum();
  return found;
}

/// Responsibilities, and the weighted mean of Omega*_order of the log densities with their weights: the mean
/// log density at order 1.
double expect(const WeightedPoints& points, const GaussianMixture& mixture, double order,
              Eigen::MatrixXd& responsibilities) {
  const index_t dimension = points.offsets.rows(), size = mixture.weights.size(),
                count = points.offsets.cols();
  Eigen::MatrixXd scores(size, count);
  for (index_t k = 0; k < size; ++k) {
    const Eigen::LLT<Eigen::MatrixXd> factor(mixture.covariances[static_cast<std::size_t>(k)]);
    const Eigen::MatrixXd standard = factor.matrixL().solve(points.offsets.colwise() - mixture.means.col(k));
    const double log_det = 2 * factor.matrixLLT().diagonal().array().log().sum();
    const double top = std::log(mixture.weights[k]) -
                       (static_cast<double>(dimension) * std::log(2 * std::numbers::pi) + log_det) / 2;
    scores.row(k) = (top - standard.colwise().squaredNorm().array() / 2).matrix();
  }
  responsibilities.resize(size, count);
  Eigen::RowVectorXd normalizer(count);
  cpu::entmax<double>({scores.data(), count, size}, order, {responsibilities.data(), count, size},
                      {.normalizer = normalizer.data()});
  const Eigen::RowVectorXd mean = responsibilities.cwiseProduct(scores).colwise().sum();
  return (normalizer + (order - 1) * mean).dot(points.weights) / order;
}

}  // namespace

WeightedPoints weighted_points(std::string_view where, const Eigen::MatrixXd& positions,
                               std::span<const double> weights, std::optional<double> variance_floor) {
  const auto count = static_cast<index_t>(weights.size());
  if (positions.cols() != count)
    throw_invalid_argument(where, "weights.size()",
                           "must be the number of positions " + shortest(index_t{positions.cols()}), count);
  if (positions.rows() == 0)
    throw_invalid_argument(where, "positions.rows()", "must be positive", index_t{0});
  if (variance_floor) checked_positive(where, "variance_floor", *variance_floor);
  double total = 0;
  std::vector<index_t> kept;
  for (index_t i = 0; i < count; ++i) {
    const double weight = weights[static_cast<std::size_t>(i)];
    total += checked_nonnegative(where, indexed("weights", i), weight);
    for (const double x : positions.col(i)) checked_finite(where, indexed("positions", i), x);
    if (weight > 0) kept.push_back(i);
  }
  checked_positive(where, "the sum of weights", total);

  WeightedPoints points;
  const auto size = static_cast<index_t>(kept.size());
  points.offsets.resize(positions.rows(), size);
  points.weights.resize(size);
  for (index_t i = 0; i < size; ++i) {
    points.offsets.col(i) = positions.col(kept[static_cast<std::size_t>(i)]);
    points.weights[i] = weights[static_cast<std::size_t>(kept[static_cast<std::size_t>(i)])] / total;
  }
  points.distinct = count_distinct(points.offsets);
  const Eigen::VectorXd first = points.offsets.col(0);  // about it, so that a common offset costs no digits
  points.offsets.colwise() -= first;
  const Eigen::VectorXd centre = points.offsets * points.weights;
  points.mean = first + centre;
  points.offsets.colwise() -= centre;
  const Eigen::MatrixXd covariance =
      points.offsets * points.weights.asDiagonal() * points.offsets.transpose();
  const double variance = checked_finite(where, "the variance of the positions",
                                         covariance.trace() / static_cast<double>(covariance.rows()));
  points.floor = variance_floor.value_or(kRelativeVarianceFloor * variance);
  if (!(points.floor > 0))
    throw_domain_error(where, "the variance of the positions",
                       "must be positive unless a variance_floor is given", variance);
  points.whitening = Eigensystem(raised(covariance, points.floor)).operatorInverseSqrt();
  return points;
}

GaussianFit fit_gaussians(const WeightedPoints& points, index_t components,
                          const MixtureFitOptions& options) {
  const std::vector<index_t> labels = start_labels(points, components);
  Eigen::MatrixXd responsibilities = Eigen::MatrixXd::Zero(components, points.offsets.cols());
  for (std::size_t i = 0; i < labels.size(); ++i) responsibilities(labels[i], static_cast<index_t>(i)) = 1;
  const double order = options.responsibilities;
  GaussianFit fit{maximise(points, responsibilities), 0, 0, 0, false};
  fit.objective = expect(points, fit.mixture, order, responsibilities);
  while (!fit.converged && fit.iterations < options.max_iterations) {
    checkpoint();
    const double before = fit.objective;
    fit.mixture = maximise(points, responsibilities);
    fit.objective = expect(points, fit.mixture, order, responsibilities);
    fit.converged = fit.objective - before <= options.tolerance;
    ++fit.iterations;
  }
  fit.log_likelihood = order == 1 ? fit.objective : expect(points, fit.mixture, 1, responsibilities);
  return fit;
}

}  // namespace fenchel::detail
