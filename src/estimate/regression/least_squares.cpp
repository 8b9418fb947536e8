#include "fenchel/estimate/regression/least_squares.hpp"

#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>

#include <Eigen/Cholesky>

#include "estimate/fit/checks.hpp"
#include "estimate/regression/standardization.hpp"
#include "fenchel/estimate/regression/objective.hpp"
#include "fenchel/estimate/statistics/moments.hpp"

namespace fenchel {
namespace {

// The share of a feature's variance that those before it must leave unexplained, and the spread of a column
// over its mean: below, they are rounding.
constexpr double kLeastShare = 1e-12, kLeastSpread = 16 * std::numeric_limits<double>::epsilon();

/// Throws where the correlations of features are singular: its Cholesky factor, column after column.
void check_correlations(std::string_view where, const Data& data, const Eigen::MatrixXd& correlation) {
  Eigen::MatrixXd factor = Eigen::MatrixXd::Zero(correlation.rows(), correlation.cols());
  for (index_t k = 0; k < correlation.rows(); ++k) {
    for (index_t j = 0; j < k; ++j)
      factor(k, j) = (correlation(k, j) - factor.row(k).head(j).dot(factor.row(j).head(j))) / factor(j, j);
    const double share = correlation(k, k) - factor.row(k).head(k).squaredNorm();
    if (!(share > kLeastShare))
      throw std::domain_error(error_message(
          where, detail::column_name(data.source.names(), k + 1),
          "must not be a linear combination of the features before it unless the penalty is positive",
          "a share of " + shortest(std::abs(share)) + " that they leave"));
    factor(k, k) = std::sqrt(share);
  }
}

}  // namespace

namespace detail {

LeastSquares fit_least_squares(std::string_view where, const Data& data, double penalty) {
  checked_nonnegative(where, "penalty", penalty);
  if (data.source.columns() == 0)
    throw_invalid_argument(where, "columns", "must number at least 1", data.source.columns());
  const Moments moments = collect(data, Moments(data.source.columns()));
  check_total_weight(where, moments.weight());
  const index_t features = data.source.columns() - 1;
  const Eigen::VectorXd mean = moments.mean();
  const Eigen::MatrixXd covariance = moments.covariance();
  Eigen::VectorXd deviation = covariance.diagonal().cwiseSqrt();
  for (index_t k = 0; k <= features; ++k) {
    const std::string column = column_name(data.source.names(), k);
    checked_finite(where, "the variance of " + column, covariance(k, k));
    if (deviation[k] > kLeastSpread * std::abs(mean[k])) continue;
    if (k > 0 && penalty == 0)
      throw_domain_error(where, column, "must vary unless the penalty is positive", mean[k]);
    deviation[k] = 0;
  }
  const Eigen::VectorXd inverse = inverse_or_zero(deviation.tail(features));
  Eigen::MatrixXd normal =
      inverse.asDiagonal() * covariance.bottomRightCorner(features, features) * inverse.asDiagonal();
  if (penalty == 0) check_correlations(where, data, normal);
  normal.diagonal().array() += penalty;
  const Eigen::VectorXd coefficients =
      inverse.cwiseProduct(normal.ldlt().solve(inverse.cwiseProduct(covariance.col(0).tail(features))));

  const Eigen::VectorXd centre = mean.tail(features);
  const BatchLoss squares = [&](const Eigen::VectorXd& w, Rows<const double> rows, PerRow weights,
                                ObjectiveSum& sum) {
    double weight = 0, value = 0;
    for (index_t i = 0; i < rows.rows; ++i) {
      if (weights[i] == 0) continue;
      const Eigen::Map<const Eigen::VectorXd> x(rows.row(i) + 1, features);
      const double residual = rows.row(i)[0] - mean[0] - w.dot(x - centre);
      weight += weights[i];
      value += weights[i] * residual * residual;
    }
    sum.add(weight, value, Eigen::VectorXd::Zero(features));
  };
  const double variance = mean_loss(data, squares, coefficients).value();
  return {coefficients, mean[0] - coefficients.dot(centre), variance, mean, deviation, moments.weight()};
}

}  // namespace detail

LeastSquares fit_least_squares(const Data& data, double penalty) {
  return detail::fit_least_squares("fit_least_squares", data, penalty);
}

}  // namespace fenchel
