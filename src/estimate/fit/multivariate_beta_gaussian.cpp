#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"

#include <cmath>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "estimate/fit/checks.hpp"
#include "estimate/fit/elliptical_errors.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/estimate/statistics/radial_moments.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_multivariate_beta_gaussian";
using Names = std::span<const std::string>;

void check_alpha(double alpha, index_t n) {
  if (!(2 + static_cast<double>(n + 2) * (alpha - 1) > 0) || std::isinf(alpha))
    throw_domain_error(kWhere, "alpha", "must be finite and above " + shortest(n) + "/" + shortest(n + 2),
                       alpha);
}

/// log det of the covariance; throws std::domain_error, naming a column, unless it is regular.
double checked_log_det(const Moments& moments, const Eigen::MatrixXd& covariance, Names names) {
  detail::check_total_weight(kWhere, moments.weight());
  const index_t n = moments.dimension();
  for (index_t i = 0; i < n; ++i) {
    if (!(covariance(i, i) > 0 && covariance(i, i) <= std::numeric_limits<double>::max()))
      throw_domain_error(kWhere, "the variance of " + detail::column_name(names, i),
                         "must be positive and finite (leave a constant column out)", covariance(i, i));
    if (!std::isnormal(covariance(i, i)))
      throw_domain_error(kWhere, "the variance of " + detail::column_name(names, i), detail::kNormalRange,
                         covariance(i, i));
  }
  const auto factor_of = [&](index_t size) {
    return detail::semidefinite_factor(kWhere, "covariance", covariance.topLeftCorner(size, size), size);
  };
  const auto whole = factor_of(n);
  if (whole.factor.cols() == n) return whole.log_det;
  index_t size = 2;
  while (size < n && factor_of(size).factor.cols() == size) ++size;
  throw std::domain_error(error_message(kWhere, detail::column_name(names, size - 1),
                                        "must not be a linear combination of those before it (leave it out, "
                                        "or give more rows than columns)",
                                        "a singular covariance"));
}

Fit<MultivariateBetaGaussian> make_fit(double alpha, bool with_alpha, const Moments& moments,
                                       const Eigen::MatrixXd& covariance, double log_det) {
  const index_t n = moments.dimension(), first = with_alpha ? 1 : 0;
  auto p = MultivariateBetaGaussian::from_covariance(alpha, moments.mean(), covariance);
  std::vector<std::string> names;
  Eigen::VectorXd parameters(first + n + n * (n + 1) / 2);
  const auto add = [&](std::string name, double value) {
    parameters[static_cast<index_t>(names.size())] = value;
    names.push_back(std::move(name));
  };
  if (with_alpha) add("alpha", alpha);
  for (index_t i = 0; i < n; ++i) add(indexed("mu", i), p.mu()[i]);
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j <= i; ++j) add("Sigma[" + shortest(i) + "," + shortest(j) + "]", p.Sigma()(i, j));
  }
  const auto errors =
      with_alpha ? detail::scale_and_alpha_errors(n, alpha - 1, log_det) : detail::scale_errors(n, alpha - 1);
  EllipticalCovariance spread(errors, with_alpha, covariance, p.Sigma(), moments.weight());
  const double loss = tsallis_entropy(p, alpha);
  return {std::move(p), std::move(names), std::move(parameters), std::move(spread), loss, moments.weight()};
}

}  // namespace

Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(double alpha, const Moments& moments) {
  check_alpha(alpha, moments.dimension());
  const Eigen::MatrixXd covariance = moments.covariance();
  return make_fit(alpha, false, moments, covariance, checked_log_det(moments, covariance, {}));
}

Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(double alpha, const Data& data) {
  check_alpha(alpha, data.source.columns());
  const Moments moments = collect(data, Moments(data.source.columns()));
  const Eigen::MatrixXd covariance = moments.covariance();
  return make_fit(alpha, false, moments, covariance,
                  checked_log_det(moments, covariance, data.source.names()));
}

Fit<MultivariateBetaGaussian> fit_multivariate_beta_gaussian(const Data& data) {
  const Names names = data.source.names();
  const auto n = static_cast<index_t>(names.size());
  const Moments moments = collect(data, Moments(n));
  const Eigen::MatrixXd covariance = moments.covariance();
  const double log_det = checked_log_det(moments, covariance, names);
  const double kurtosis = collect(data, RadialMoments(moments.mean(), covariance)).mean_square();
  const double log_size = covariance.diagonal().array().log().abs().maxCoeff();
  const double am1 =
      detail::am1_of_kurtosis(n, kurtosis / static_cast<double>(n * (n + 2)), log_det, log_size);
  return make_fit(1 + am1, true, moments, covariance, log_det);
}

}  // namespace fenchel
