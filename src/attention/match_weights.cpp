#include "fenchel/attention/match_weights.hpp"

#include <span>
#include <utility>

#include "attention/check_shape.hpp"
#include "attention/row_views.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"

namespace fenchel {

using detail::points_of, detail::row_of;

BetaGaussian match_weights(double alpha, const Eigen::VectorXd& weights, std::optional<double> floor) {
  double mu = 0, sigma2 = 0;
  cpu::match_weights<double>(alpha, row_of(weights), {}, floor,
                             {.mu = {&mu, 1, 1}, .Sigma = {&sigma2, 1, 1}});
  return BetaGaussian(alpha, mu, sigma2);
}

MultivariateBetaGaussian match_weights(double alpha, const Eigen::VectorXd& weights,
                                       const Eigen::MatrixXd& positions, std::optional<double> floor) {
  const index_t d = positions.rows();
  Eigen::VectorXd mu(d);
  Eigen::MatrixXd Sigma(d, d);
  cpu::match_weights<double>(alpha, row_of(weights), points_of(positions), floor,
                             {.mu = row_of(mu), .Sigma = {Sigma.data(), 1, d * d}});
  return {alpha, std::move(mu), std::move(Sigma)};
}

WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                  const QuadraticGradient& cotangent, std::optional<double> floor) {
  WeightsGradient gradient{Eigen::VectorXd(weights.size()), 0};
  cpu::match_weights_vjp<double>(
      alpha, row_of(weights), {}, floor,
      {std::span(&cotangent.alpha, 1), {&cotangent.mu, 1, 1}, {&cotangent.sigma2, 1, 1}},
      row_of(gradient.weights), std::span(&gradient.alpha, 1));
  return gradient;
}

WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                  const Eigen::MatrixXd& positions,
                                  const MultivariateQuadraticGradient& cotangent,
                                  std::optional<double> floor) {
  const index_t d = positions.rows();
  detail::check_shape("match_weights_vjp", "cotangent.mu", cotangent.mu, d, 1);
  detail::check_shape("match_weights_vjp", "cotangent.Sigma", cotangent.Sigma, d, d);
  WeightsGradient gradient{Eigen::VectorXd(weights.size()), 0};
  cpu::match_weights_vjp<double>(
      alpha, row_of(weights), points_of(positions), floor,
      {std::span(&cotangent.alpha, 1), {cotangent.mu.data(), 1, d}, {cotangent.Sigma.data(), 1, d * d}},
      row_of(gradient.weights), std::span(&gradient.alpha, 1));
  return gradient;
}

}  // namespace fenchel
