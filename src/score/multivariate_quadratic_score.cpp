#include "fenchel/score/multivariate_quadratic_score.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

/// A point may be off the image by this, relative to its distance from mu; and by the rounding of t itself.
/// Both in units of the roots of Sigma's diagonal, in which the projection on the image is orthogonal.
constexpr double kImageTolerance = 1e-10;
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

bool is_off_image(const Eigen::VectorXd& offset, const Eigen::VectorXd& residual,
                  const Eigen::Ref<const Eigen::VectorXd>& t, const MultivariateQuadraticScore& f) {
  double off = 0, distance = 0, rounding = 0;
  for (index_t i = 0; i < t.size(); ++i) {
    const double unit = std::sqrt(f.Sigma()(i, i)),
                 rounds = kRounding * (std::abs(t[i]) + std::abs(f.mu()[i]));
    if (unit == 0 && std::abs(offset[i]) > rounds) return true;
    if (unit == 0) continue;
    off = std::hypot(off, residual[i] / unit);
    distance = std::hypot(distance, offset[i] / unit);
    rounding = std::hypot(rounding, rounds / unit);
  }
  return off > kImageTolerance * distance + rounding;
}

}  // namespace

MultivariateQuadraticScore::MultivariateQuadraticScore(Eigen::VectorXd mu, Eigen::MatrixXd Sigma)
    : mu_(std::move(mu)) {
  constexpr const char* kWhere = "multivariate_quadratic_score";
  if (mu_.size() < 1) throw_invalid_argument(kWhere, "mu.size()", "must be positive", index_t{mu_.size()});
  detail::check_finite(kWhere, "mu", mu_);
  detail::SemidefiniteFactor found =
      detail::semidefinite_factor(kWhere, "Sigma", std::move(Sigma), mu_.size());
  Sigma_ = std::move(found.matrix);
  factor_ = std::move(found.factor);
  whitening_ = std::move(found.whitening);
  log_det_ = found.log_det;
}

double MultivariateQuadraticScore::mahalanobis2(const Eigen::Ref<const Eigen::VectorXd>& t) const {
  if (t.size() != dimension())
    throw_invalid_argument("multivariate_quadratic_score", "t.size()",
                           "must be the dimension " + shortest(dimension()), index_t{t.size()});
  if (t.hasNaN()) return std::numeric_limits<double>::quiet_NaN();
  if (!t.allFinite()) return kInfinity;
  const Eigen::VectorXd offset = t - mu_, white = whitening_ * offset;
  if (rank() < dimension() && is_off_image(offset, offset - factor_ * white, t, *this)) return kInfinity;
  const double q = white.squaredNorm();
  return std::isnan(q) ? kInfinity : q;
}

}  // namespace fenchel
