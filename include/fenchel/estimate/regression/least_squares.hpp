#pragma once

/// `fit_least_squares`: linear regression by least squares.

#include <string_view>

#include <Eigen/Core>

#include "fenchel/core/config.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// The line through data that is nearest in squares, and what the columns are like.
struct LeastSquares {
  Eigen::VectorXd coefficients;  ///< one for each feature
  double intercept;
  double variance;            ///< the mean squared residual (divided by the weight)
  Eigen::VectorXd mean;       ///< of the columns, the target first
  Eigen::VectorXd deviation;  ///< their standard deviations (divided by the weight)
  double weight;              ///< of all rows
};

/// Minimises the mean of (y - w.x - b)^2 / 2 plus penalty / 2 times the sum of (w_j deviation_j)^2, in two
/// passes; the first column is y, the others x. Throws std::domain_error for data of no weight and, unless
/// the penalty is positive, for a feature that is constant or a linear combination of those before it; with a
/// penalty the coefficient of a constant is 0.
[[nodiscard]] FENCHEL_EXPORT LeastSquares fit_least_squares(const Data& data, double penalty = 0);

namespace detail {
/// The same, with errors in the name of `where`.
[[nodiscard]] LeastSquares fit_least_squares(std::string_view where, const Data& data, double penalty);
}  // namespace detail

}  // namespace fenchel
