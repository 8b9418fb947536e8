#pragma once

/// `Fit`: a fitted distribution with its parameters, their covariance and the loss.

#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "fenchel/estimate/fit/elliptical_covariance.hpp"

namespace fenchel {

class MultivariateBetaGaussian;

/// What holds the covariance of a family's estimators. A family that has many computes the entries.
template <class Distribution>
struct EstimatorCovariance {
  using Type = Eigen::MatrixXd;
};
template <>
struct EstimatorCovariance<MultivariateBetaGaussian> {
  using Type = EllipticalCovariance;
};

/// A distribution fitted to data: the minimiser of the mean cross-Omega loss over a family, which matches
/// the moments of the data [SCD22, Section 3.2]. A row of weight w counts as w rows.
template <class Distribution>
struct Fit {
  Distribution distribution;
  std::vector<std::string> names;  ///< of the parameters that were estimated
  Eigen::VectorXd parameters;      ///< their estimates
  /// Of the estimators, for large samples from the fitted family: H^-1 C H^-1 / weight, H the Hessian of the
  /// mean loss and C the covariance of its terms' gradients; infinite or NaN where C does not exist, and
  /// infinite, NaN or 0 where squares of the estimates over- or underflow: choose another unit then.
  typename EstimatorCovariance<Distribution>::Type covariance;
  double loss;    ///< the mean cross-Omega loss reached
  double weight;  ///< of all rows

  [[nodiscard]] Eigen::VectorXd standard_errors() const { return covariance.diagonal().cwiseSqrt(); }
};

/// The same fit with the root of a parameter, such as sigma for sigma2, in its place: its covariances by the
/// delta method.
template <class Distribution>
[[nodiscard]] Fit<Distribution> with_root(Fit<Distribution> fit, Eigen::Index parameter,
                                          const std::string& name) {
  const double root = std::sqrt(fit.parameters[parameter]);
  fit.names[static_cast<std::size_t>(parameter)] = name;
  fit.parameters[parameter] = root;
  fit.covariance.row(parameter) /= 2 * root;
  fit.covariance.col(parameter) /= 2 * root;
  return fit;
}

}  // namespace fenchel
