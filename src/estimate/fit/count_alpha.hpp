#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <string_view>

#include <Eigen/Core>

#include "core/compensated_sum.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/integers/integer_table.hpp"
#include "fenchel/estimate/statistics/count_histogram.hpp"

/// Alpha of counts: the other parameters match moments for every alpha, and alpha is the one for which the
/// member that they give has the largest likelihood. The losses of two alphas are in different units, and
/// cannot be compared.
namespace fenchel::detail {

/// -infinity where a count is outside of the support.
template <class P>
[[nodiscard]] double log_likelihood(const P& p, const CountHistogram& counts) {
  CompensatedSum sum;
  const auto values = counts.values();
  const auto weights = counts.weights();
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double log_p = log_pmf(p, values[k]);
    if (log_p == -kInfinity) return log_p;
    sum.add(weights[k] * log_p);
  }
  return sum.total();
}

/// The alpha > least with the largest value of `log_likelihood`, to 1e-6, which may throw std::domain_error
/// or ConvergenceError where there is no member: a scan, then a search between the neighbours of the best.
/// Throws std::domain_error in the name of `where` where the best is at an end of the scan, or all counts are
/// the same.
[[nodiscard]] double most_likely_alpha(std::string_view where, double least, const CountHistogram& counts,
                                       const std::function<double(double)>& log_likelihood);

/// The covariance of the estimators of alpha and, after it, of the canonical parameters of phi, for one
/// observation of the prediction p of alpha: J^-1 V J^-T of the estimating functions phi - E phi and d/dalpha
/// log p along the fits of all alphas. NaN where a moment does not exist.
[[nodiscard]] Eigen::MatrixXd alpha_covariance(const IntegerTable& p, double am1,
                                               const std::function<Eigen::VectorXd(double)>& phi);

}  // namespace fenchel::detail
