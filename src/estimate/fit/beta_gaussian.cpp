#include "fenchel/estimate/fit/beta_gaussian.hpp"

#include <cmath>

#include "estimate/fit/elliptical_errors.hpp"
#include "estimate/fit/location_fit.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel {
namespace {

constexpr auto kWhere = "fit_beta_gaussian";

Eigen::MatrixXd one_by_one(double x) { return Eigen::MatrixXd::Constant(1, 1, x); }

}  // namespace

Fit<BetaGaussian> fit_beta_gaussian(double alpha, const LineMoments& moments) {
  if (!(alpha > 1. / 3)) throw_domain_error(kWhere, "alpha", "must be above 1/3", alpha);
  if (std::isinf(alpha)) return fit_uniform(moments);
  detail::check_moments(kWhere, moments);
  const double variance = moments.variance(), weight = moments.weight();
  const auto p = BetaGaussian::from_variance(alpha, moments.mean(), variance);
  return {p,
          {"mu", "sigma2"},
          Eigen::Vector2d(p.mu(), p.sigma2()),
          EllipticalCovariance(detail::scale_errors(1, alpha - 1), false, one_by_one(variance),
                               one_by_one(p.sigma2()), weight)
              .matrix(),
          tsallis_entropy(p, alpha),
          weight};
}

Fit<BetaGaussian> fit_uniform(const LineMoments& moments) {
  detail::check_moments("fit_uniform", moments);
  const double variance = moments.variance(), weight = moments.weight();
  const auto p = BetaGaussian::from_variance(kInfinity, moments.mean(), variance);
  // With h^2 = 3 variance: that of the mean, and of h.
  const double of_mean = variance / weight, of_half = 3 * variance / (5 * weight);
  const Eigen::Matrix2d covariance{{of_mean + of_half, of_mean - of_half},
                                   {of_mean - of_half, of_mean + of_half}};
  return {p,
          {"lower", "upper"},
          Eigen::Vector2d(support(p).lower(), support(p).upper()),
          covariance,
          0.0 + tsallis_entropy(p, kInfinity),  // not -0
          weight};
}

Fit<BetaGaussian> fit_beta_gaussian(const LineMoments& moments) {
  detail::check_moments(kWhere, moments);
  const double variance = moments.variance(), weight = moments.weight();
  const double fourth = moments.central_moment(4), log_variance = std::log(variance);
  if (!std::isnormal(fourth))
    throw_domain_error(kWhere, "the fourth central moment",
                       "must be in the range of doubles (choose another unit)", fourth);
  const double am1 =
      detail::am1_of_kurtosis(1, fourth / variance / variance / 3, log_variance, std::abs(log_variance));
  const auto p = BetaGaussian::from_variance(1 + am1, moments.mean(), variance);
  return {p,
          {"alpha", "mu", "sigma2"},
          Eigen::Vector3d(p.alpha(), p.mu(), p.sigma2()),
          EllipticalCovariance(detail::scale_and_alpha_errors(1, am1, log_variance), true,
                               one_by_one(variance), one_by_one(p.sigma2()), weight)
              .matrix(),
          tsallis_entropy(p, p.alpha()),
          weight};
}

}  // namespace fenchel
