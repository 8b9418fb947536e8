#pragma once

#include <string_view>

#include <Eigen/Core>

#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/absolute_moments.hpp"
#include "fenchel/estimate/statistics/collect.hpp"
#include "fenchel/estimate/statistics/line_moments.hpp"
#include "fenchel/estimate/statistics/selection.hpp"

/// What the fits of families with one location and one scale share.
namespace fenchel::detail {

/// Throws std::domain_error unless the data has a mean and a positive variance, which is no subnormal number.
void check_moments(std::string_view where, const LineMoments& moments);
/// Throws std::invalid_argument unless the first moment is E|t - centre|, std::domain_error unless it is
/// positive and finite and the centre a median.
void check_deviation(std::string_view where, const AbsoluteMoments& moments);

/// About the weighted median.
[[nodiscard]] AbsoluteMoments deviation_of(const Data& data);

/// The fit of a symmetric p with the score -(t - mu)^2 / (2 sigma2), to mean and variance. `elasticity` is
/// d log sigma2 / d log variance, `entropy` -Omega(p): the cross-Omega loss where moments match.
template <class P>
[[nodiscard]] Fit<P> variance_fit(P p, double elasticity, double entropy, double weight) {
  const double spread = elasticity * p.sigma2();
  Fit<P> fit{p,     {"mu", "sigma2"}, Eigen::Vector2d(p.mu(), p.sigma2()), Eigen::MatrixXd(2, 2), entropy,
             weight};
  fit.covariance << variance(p) / weight, 0, 0, spread * spread * (kurtosis(p) - 1) / weight;
  return fit;
}

/// The fit of a symmetric p with the score -|t - mu| / b, to median and mean deviation; `elasticity` is
/// d log b / d log E|t - mu|. The Hessian in mu is 2 p(mu) / b, derived.
template <class P>
[[nodiscard]] Fit<P> deviation_fit(P p, double elasticity, double entropy, double weight) {
  const double spread = elasticity * p.b(), slope = 2 * pdf(p, p.mu()), deviation = mean_deviation(p, p.mu());
  Fit<P> fit{p, {"mu", "b"}, Eigen::Vector2d(p.mu(), p.b()), Eigen::MatrixXd(2, 2), entropy, weight};
  fit.covariance << 1 / (slope * slope) / weight, 0, 0,
      spread * spread * (variance(p) / deviation / deviation - 1) / weight;
  return fit;
}

}  // namespace fenchel::detail
