#include "fenchel/attention/weights_density.hpp"

#include <string>

#include "fenchel/backend/weights_density.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

Rows<const double> row_of(const Eigen::VectorXd& x) { return {x.data(), 1, x.size()}; }

/// A column of the D x L matrix is a row of the points.
cpu::WeightPositions points_of(const Eigen::MatrixXd& positions) {
  return {.points = {positions.data(), positions.cols(), positions.rows()}};
}

void check_size(const char* what, index_t got, index_t expected) {
  if (got != expected)
    throw_invalid_argument("match_weights_vjp", what, "must be " + shortest(expected), got);
}

}  // namespace

BetaGaussian match_weights(double alpha, const Eigen::VectorXd& weights, std::optional<double> floor) {
  double mu = 0, sigma2 = 0;
  cpu::match_weights<double>(row_of(weights), {}, alpha, floor, {&mu, 1, 1}, {&sigma2, 1, 1});
  return {alpha, mu, sigma2};
}

MultivariateBetaGaussian match_weights(double alpha, const Eigen::VectorXd& weights,
                                       const Eigen::MatrixXd& positions, std::optional<double> floor) {
  const index_t d = positions.rows();
  Eigen::VectorXd mu(d);
  Eigen::MatrixXd scale(d, d);
  cpu::match_weights<double>(row_of(weights), points_of(positions), alpha, floor, {mu.data(), 1, d},
                             {scale.data(), 1, d * d});
  return {alpha, std::move(mu), std::move(scale)};
}

WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                  const QuadraticGradient& cotangent, std::optional<double> floor) {
  WeightsGradient gradient{Eigen::VectorXd(weights.size()), 0};
  cpu::match_weights_vjp<double>(
      row_of(weights), {}, alpha, floor,
      {{&cotangent.mu, 1, 1}, {&cotangent.sigma2, 1, 1}, std::span(&cotangent.alpha, 1)},
      {gradient.weights.data(), 1, weights.size()}, std::span(&gradient.alpha, 1));
  return gradient;
}

WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                  const Eigen::MatrixXd& positions,
                                  const MultivariateQuadraticGradient& cotangent,
                                  std::optional<double> floor) {
  const index_t d = positions.rows();
  check_size("cotangent.mu.size()", cotangent.mu.size(), d);
  check_size("cotangent.scale.size()", cotangent.scale.size(), d * d);
  WeightsGradient gradient{Eigen::VectorXd(weights.size()), 0};
  cpu::match_weights_vjp<double>(
      row_of(weights), points_of(positions), alpha, floor,
      {{cotangent.mu.data(), 1, d}, {cotangent.scale.data(), 1, d * d}, std::span(&cotangent.alpha, 1)},
      {gradient.weights.data(), 1, weights.size()}, std::span(&gradient.alpha, 1));
  return gradient;
}

}  // namespace fenchel
