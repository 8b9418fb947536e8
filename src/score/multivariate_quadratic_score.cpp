#include "fenchel/score/multivariate_quadratic_score.hpp"

#include <cmath>
#include <limits>
#include <utility>

#include "fenchel/core/error.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

/// A point may be off the image by this, relative to its distance from mu; and by the rounding of t itself.
constexpr double kImageTolerance = 1e-10;
constexpr double kRounding = 8 * std::numeric_limits<double>::epsilon();

}  // namespace

MultivariateQuadraticScore::MultivariateQuadraticScore(Eigen::VectorXd mu, Eigen::MatrixXd scale)
    : mu_(std::move(mu)) {
  constexpr const char* kWhere = "multivariate_quadratic_score";
  if (mu_.size() < 1) throw_invalid_argument(kWhere, "mu.size()", "must be positive", index_t{mu_.size()});
  detail::check_finite(kWhere, "mu", mu_);
  detail::SemidefiniteFactor found =
      detail::semidefinite_factor(kWhere, "scale", std::move(scale), mu_.size());
  scale_ = std::move(found.matrix);
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
  if (rank() < dimension()) {
    const double off = (offset - factor_ * white).norm();
    if (off > kImageTolerance * offset.norm() + kRounding * (t.norm() + mu_.norm())) return kInfinity;
  }
  const double q = white.squaredNorm();
  return std::isnan(q) ? kInfinity : q;
}

}  // namespace fenchel
