#pragma once

#include <Eigen/Core>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/attention/mixture_em.hpp"
#include "fenchel/core/index.hpp"

/// EM for Gaussian mixtures of weighted points.
namespace fenchel::detail {

/// Points with positive weight, about their mean, and what is known of all of them.
struct WeightedPoints {
  Eigen::MatrixXd offsets;  ///< D x L, from the mean
  Eigen::VectorXd weights;  ///< sum to one
  Eigen::VectorXd mean;
  Eigen::MatrixXd whitening;  ///< D x D: offsets get the identity as covariance where it is above floor
  double floor;               ///< of variances
  index_t distinct;           ///< points
};

/// Throws as fit_mixture does.
[[nodiscard]] WeightedPoints weighted_points(std::string_view where, const Eigen::MatrixXd& positions,
                                             std::span<const double> weights,
                                             std::optional<double> variance_floor);

struct GaussianMixture {
  Eigen::VectorXd weights;
  Eigen::MatrixXd means;  ///< D x K, as offsets
  std::vector<Eigen::MatrixXd> covariances;
};

struct GaussianFit {
  GaussianMixture mixture;
  double log_likelihood, objective;
  index_t iterations;
  bool converged;
};

/// 1 <= components <= points.distinct; the order of the responsibilities, the tolerance and the most
/// iterations are those of the options.
[[nodiscard]] GaussianFit fit_gaussians(const WeightedPoints& points, index_t components,
                                        const MixtureFitOptions& options);

}  // namespace fenchel::detail
