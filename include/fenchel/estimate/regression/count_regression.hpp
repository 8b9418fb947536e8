#pragma once

/// `fit_count_regression`: regression of counts with the sparse Poisson.

#include <span>
#include <string>
#include <vector>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/integers/sparse_poisson.hpp"
#include "fenchel/estimate/regression/minimize.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

/// Regression of counts: y ~ SparsePoisson(alpha, exp(w.x + b)), Poisson regression at alpha = 1. The mean
/// Fenchel-Young loss of the counts [SCD22, Section 5; docs/math.md 2, 3] is convex in w and b, thanks to the
/// log link (docs/math.md E2). At the minimum the mean predicted count is the mean count, and so are their
/// products with the features.
namespace fenchel {

struct CountRegressionOptions {
  double alpha = 2;  ///< above 1/2, finite; below 1 counts vary more than Poisson's
  /// Half of it times the sum of squares of the coefficients, of standardised features, is added to the loss.
  double penalty = 1e-6;
  MinimizeOptions minimize = {};
};

/// Collinear features share their effect, least in squares. A mean that needs more than 2^20 integers counts
/// as a loss of +infinity.
struct CountRegressionFit {
  double alpha;
  std::vector<std::string> names;  ///< of the features
  Eigen::VectorXd coefficients;
  double intercept;
  /// Of the estimators of the coefficients and, last, the intercept, for large samples of the fitted model:
  /// H^-1 C H^-1 / weight, H the Hessian of the mean loss and the penalty, C the covariance of the terms'
  /// gradients. NaN where H is singular, as for collinear features without penalty.
  Eigen::MatrixXd covariance;
  double loss;    ///< the mean Fenchel-Young loss, without the penalty
  double weight;  ///< of all rows
  /// The largest entry of the gradient, for standardised features, over the mean count if that is above one.
  double residual;
  int iterations;
  MinimizeStatus status;

  /// Of the coefficients and, last, the intercept.
  [[nodiscard]] Eigen::VectorXd standard_errors() const { return covariance.diagonal().cwiseSqrt(); }
};

/// Columns: the count, then the features, of which there may be none. Throws std::domain_error for options
/// that mean nothing, counts that are all 0 (the intercept has no lower bound), and a feature that is
/// constant unless the penalty is positive (its coefficient is 0 then); DataError for a count that is no
/// natural number up to 2^52; Cancelled by data.progress.
[[nodiscard]] FENCHEL_EXPORT CountRegressionFit
fit_count_regression(const Data& data, const CountRegressionOptions& options = {});

/// The distribution of the count at these features. Throws std::invalid_argument unless there is one for each
/// coefficient, std::domain_error where exp(w.x + b) is 0 or too large for SparsePoisson.
[[nodiscard]] FENCHEL_EXPORT SparsePoisson predict(const CountRegressionFit& fit,
                                                   std::span<const double> features);

}  // namespace fenchel
