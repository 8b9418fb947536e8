#include "fenchel/distribution/reparametrization.hpp"

#include <cmath>
#include <limits>

#include "core/beta_gaussian/radius.hpp"
#include "fenchel/core/error.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

}  // namespace

SampleDerivatives sample_derivatives(const BetaGaussian& p, double t) {
  const double x = t - p.mu(), slope = detail::log_radius_alpha_slope(p.constants(), x * (x / p.sigma2()));
  if (std::isnan(slope)) return {kNaN, kNaN, kNaN};
  return {1, x * (1 - detail::determinant_exponent(p.constants())) / (2 * p.sigma2()), x * slope};
}

SampleGradient sample_gradient(const MultivariateBetaGaussian& p, const Eigen::VectorXd& t,
                               const Eigen::VectorXd& cotangent) {
  using Eigen::MatrixXd, Eigen::VectorXd;
  const index_t n = p.dimension();
  if (cotangent.size() != n)
    throw_invalid_argument("sample_gradient", "cotangent.size()", "must be the dimension " + shortest(n),
                           index_t{cotangent.size()});
  detail::check_regular("sample_gradient", "p.rank()", p.rank(), n);
  const double slope = detail::log_radius_alpha_slope(p.constants(), p.score().mahalanobis2(t));
  if (std::isnan(slope)) return {VectorXd::Constant(n, kNaN), MatrixXd::Constant(n, n, kNaN), kNaN};
  const MatrixXd &factor = p.score().factor(), &white = p.score().whitening();
  const VectorXd x = t - p.mu();
  // dL = L lower(L^-1 dSigma L^-T), where lower halves the diagonal.
  MatrixXd inner = factor.transpose() * cotangent * (white * x).transpose();
  inner.triangularView<Eigen::StrictlyUpper>().setZero();
  inner.diagonal() /= 2;
  inner = (inner + inner.transpose().eval()) / 2;
  const double along = cotangent.dot(x);
  inner.diagonal().array() -= detail::determinant_exponent(p.constants()) * along / 2;
  return {cotangent, white.transpose() * inner * white, along * slope};
}

}  // namespace fenchel
