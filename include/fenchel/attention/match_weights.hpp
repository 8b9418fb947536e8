#pragma once

/// `match_weights`: the beta-Gaussian with the mean and the covariance of weights over positions.

#include <Eigen/Core>
#include <optional>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"
#include "fenchel/distribution/quadratic_gradient.hpp"

/// From weights over positions to a density [SCD22, Section 9.1]: the member at alpha that has the mean of
/// the weights, and their covariance plus a floor. What it is, what it throws, and what the floor is unless
/// it is said: backend/cpu/match_weights.hpp, which does the same for the rows of a batch.
namespace fenchel {

/// On positions(weights.size()) of the unit interval.
[[nodiscard]] FENCHEL_EXPORT BetaGaussian match_weights(double alpha, const Eigen::VectorXd& weights,
                                                        std::optional<double> floor = {});
/// Weight l lies at column l of a D x L matrix.
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian match_weights(double alpha,
                                                                    const Eigen::VectorXd& weights,
                                                                    const Eigen::MatrixXd& positions,
                                                                    std::optional<double> floor = {});

/// What a loss of the density says about the weights, and about alpha where Sigma follows it.
struct WeightsGradient {
  Eigen::VectorXd weights;
  double alpha;
};
[[nodiscard]] FENCHEL_EXPORT WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                                               const QuadraticGradient& cotangent,
                                                               std::optional<double> floor = {});
[[nodiscard]] FENCHEL_EXPORT WeightsGradient match_weights_vjp(double alpha, const Eigen::VectorXd& weights,
                                                               const Eigen::MatrixXd& positions,
                                                               const MultivariateQuadraticGradient& cotangent,
                                                               std::optional<double> floor = {});

}  // namespace fenchel
