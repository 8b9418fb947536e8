#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>
#include <string>
#include <utility>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/gamma_ratio.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/parallel.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

constexpr const char* kWhere = "multivariate_beta_gaussian";

std::string for_rank(index_t rank) { return " for rank " + shortest(rank); }

double half_log_det_2pi(index_t rank, double log_det) {
  return (static_cast<double>(rank) * std::log(2 * std::numbers::pi) + log_det) / 2;
}

void check_alpha(double alpha, index_t rank) {
  const double am1 = alpha - 1, half_rank = static_cast<double>(rank) / 2;
  // Both: each may round to its bound.
  const bool has_mass = am1 >= 0 || (half_rank * am1 > -1 && -1 / am1 > half_rank);
  if (!(alpha > 0 && has_mass)) {
    const std::string bound = rank > 2 ? "1 - 2/" + shortest(rank) : "0";
    throw_domain_error(kWhere, "alpha", "must be greater than " + bound + for_rank(rank), alpha);
  }
}

/// radius2 overflows for a large alpha and a Sigma that is almost 0, and for a small alpha and a huge Sigma.
BetaGaussianConstants checked_constants(double alpha, index_t rank, double log_det) {
  check_alpha(alpha, rank);
  const BetaGaussianConstants constants = beta_gaussian_constants(rank, alpha - 1, log_det);
  if (alpha != 1 && std::isinf(constants.radius2))
    throw_domain_error(kWhere, "log(det(Sigma))", "must keep radius2 in the range of doubles", log_det);
  return constants;
}

/// Sigma / shape for the density proportional to exp_{2-alpha}(-q / (2 w)), q = t^T shape^+ t. With z of the
/// member, e^z Sigma = w shape, which is linear in the logarithm of the factor.
double scale_factor(double alpha, index_t rank, double log_det, double log_w) {
  const double am1 = alpha - 1;
  const double log_factor = (1 + static_cast<double>(rank) * am1 / 2) * log_w +
                            am1 * (half_log_det_2pi(rank, log_det) - log_gamma_ratio(rank, am1));
  if (!(std::abs(log_factor) <= 700))
    throw_domain_error(kWhere, "the logarithm of what multiplies Sigma", "must be within +-700", log_factor);
  return std::exp(log_factor);
}

}  // namespace

MultivariateBetaGaussian::MultivariateBetaGaussian(double alpha, Eigen::VectorXd mu, Eigen::MatrixXd Sigma)
    : alpha_(alpha),
      score_(std::move(mu), std::move(Sigma)),
      constants_(checked_constants(alpha, score_.rank(), score_.log_det())) {}

MultivariateBetaGaussian::MultivariateBetaGaussian(MultivariateQuadraticScore score, double radius2)
    : alpha_(kInfinity), score_(std::move(score)) {
  const auto rank = static_cast<double>(score_.rank());
  const double log_volume =
      (rank * std::log(std::numbers::pi * radius2) + score_.log_det()) / 2 - std::lgamma(rank / 2 + 1);
  constants_ = {score_.rank(), kInfinity,    -log_volume,  kInfinity,
                radius2,       -radius2 / 2, -radius2 / 2, radius2 / (rank + 2)};
}

MultivariateBetaGaussian MultivariateBetaGaussian::diagonal(double alpha, Eigen::VectorXd mu,
                                                            const Eigen::VectorXd& sigma2) {
  if (sigma2.size() != mu.size())
    throw_invalid_argument(kWhere, "sigma2.size()", "must be mu.size() = " + shortest(index_t{mu.size()}),
                           index_t{sigma2.size()});
  for (index_t i = 0; i < sigma2.size(); ++i) {
    if (!(sigma2[i] >= 0 && sigma2[i] < kInfinity))
      throw_domain_error(kWhere, indexed("sigma2", i), "must be finite and not negative", sigma2[i]);
  }
  return {alpha, std::move(mu), sigma2.asDiagonal()};
}

MultivariateBetaGaussian MultivariateBetaGaussian::from_covariance(double alpha, Eigen::VectorXd mu,
                                                                   const Eigen::MatrixXd& covariance) {
  const auto found = detail::semidefinite_factor(kWhere, "covariance", covariance, mu.size());
  const index_t rank = found.factor.cols();
  if (std::isinf(alpha) && alpha > 0)
    return uniform({std::move(mu), covariance, static_cast<double>(rank + 2)});
  const double extra = static_cast<double>(rank + 2) * (alpha - 1) / 2;
  if (!(alpha > 0 && extra > -1))
    throw_domain_error(kWhere, "alpha",
                       "must be greater than " + shortest(rank) + "/" + shortest(rank + 2) + for_rank(rank),
                       alpha);
  const double factor = scale_factor(alpha, rank, found.log_det, std::log1p(extra));
  return {alpha, std::move(mu), factor * found.matrix};
}

MultivariateBetaGaussian MultivariateBetaGaussian::from_shape(double alpha, Eigen::VectorXd mu,
                                                              const Eigen::MatrixXd& shape) {
  const auto found = detail::semidefinite_factor(kWhere, "shape", shape, mu.size());
  const index_t rank = found.factor.cols();
  detail::checked_finite(kWhere, "alpha", alpha);
  check_alpha(alpha, rank);
  return {alpha, std::move(mu), scale_factor(alpha, rank, found.log_det, 0) * found.matrix};
}

MultivariateBetaGaussian MultivariateBetaGaussian::from_canonical(double alpha,
                                                                  const CanonicalParameters& theta) {
  detail::check_finite(kWhere, "linear", theta.linear);
  const auto precision =
      detail::semidefinite_factor(kWhere, "-2 * quadratic", -2 * theta.quadratic, theta.linear.size());
  if (precision.factor.cols() < theta.linear.size())
    throw_domain_error(kWhere, "the smallest eigenvalue of -2 * quadratic", "must be positive", 0);
  const Eigen::MatrixXd Sigma = precision.whitening.transpose() * precision.whitening;
  return {alpha, Sigma * theta.linear, Sigma};
}

MultivariateBetaGaussian MultivariateBetaGaussian::uniform(const Ellipsoid& support) {
  detail::checked_positive(kWhere, "radius2", support.radius2);
  return {MultivariateQuadraticScore(support.centre, support.shape), support.radius2};
}

Ellipsoid support(const MultivariateBetaGaussian& p) {
  return {p.mu(), p.Sigma(), p.alpha() > 1 ? p.constants().radius2 : kInfinity};
}

double log_pdf(const MultivariateBetaGaussian& p, const Eigen::Ref<const Eigen::VectorXd>& t) {
  return log_density(p.constants(), p.score().mahalanobis2(t));
}

double pdf(const MultivariateBetaGaussian& p, const Eigen::Ref<const Eigen::VectorXd>& t) {
  return std::exp(log_pdf(p, t));
}

Eigen::MatrixXd covariance(const MultivariateBetaGaussian& p) {
  const double factor = p.constants().variance_factor;
  return p.Sigma().unaryExpr([factor](double s) { return s == 0 ? 0 : factor * s; });
}

double kurtosis(const MultivariateBetaGaussian& p) noexcept {
  const double r = static_cast<double>(p.rank()), am1 = p.alpha() - 1;
  if (std::isinf(am1)) return r * (r + 2) * (r + 2) / (r + 4);
  const double spread = 2 + (r + 4) * am1;
  return spread > 0 ? r * (r + 2) * (2 + (r + 2) * am1) / spread : kInfinity;
}

double entropy(const MultivariateBetaGaussian& p) { return tsallis_entropy(p, 1); }

double tsallis_entropy(const MultivariateBetaGaussian& p, double order) {
  if (!(order > 0)) throw_domain_error("tsallis_entropy", "order", "must be positive", order);
  const double am1 = p.alpha() - 1, half_rank = static_cast<double>(p.rank()) / 2;
  if (order + half_rank * am1 <= 0) return kInfinity;
  return -tsallis_negentropy(p.constants(), order);
}

double negentropy_order_derivative(const MultivariateBetaGaussian& p, double order) {
  return detail::tsallis_negentropy_order_derivative(p.constants(), order);
}

MultivariateBetaGaussian escort(const MultivariateBetaGaussian& p, double order) {
  const double am1 = p.alpha() - 1;
  detail::checked_finite("escort", "order", order);
  if (am1 > 0 && order == 0) return MultivariateBetaGaussian::uniform(support(p));
  // 1 + am1 / order must be an alpha: positive, and greater than 1 - 2/r.
  const double least = am1 < 0 ? -am1 * std::max(1.0, static_cast<double>(p.rank()) / 2) : 0;
  if (!(order > least))
    throw_domain_error("escort", "order",
                       (am1 > 0 ? "must be at least " : "must be greater than ") + shortest(least), order);
  if (std::isinf(am1)) return p;
  return MultivariateBetaGaussian::from_shape(1 + am1 / order, p.mu(),
                                              p.constants().peak_power / order * p.Sigma());
}

CanonicalParameters canonical_parameters(const MultivariateBetaGaussian& p) {
  if (p.rank() < p.dimension())
    throw_domain_error("canonical_parameters", "the smallest eigenvalue of Sigma", "must be positive", 0);
  const Eigen::MatrixXd& whitening = p.score().whitening();
  return {whitening.transpose() * (whitening * p.mu()), -0.5 * (whitening.transpose() * whitening)};
}

/// The ratio of |z|^2 and |z|^2 + 2 g is Beta(r/2, 1 + 1/am1), and that of |z|^2 and 2 g is BetaPrime(r/2,
/// nu/2) (docs/math.md 4): as alpha -> 1 from either side am1 g -> +-1, and the draw is the Gaussian's of the
/// same bits.
Eigen::VectorXd detail::sample(const MultivariateBetaGaussian& p, BitSource source) {
  const BetaGaussianConstants& c = p.constants();
  Eigen::VectorXd z(p.rank());
  for (double& element : z) element = standard_normal(source.next(source.rng));
  double stretch = 1;
  if (c.am1 > 0) {
    const double g = standard_gamma(1 + 1 / c.am1, source);
    stretch = std::sqrt(c.radius2 / (z.squaredNorm() + 2 * g));
  } else if (c.am1 < 0) {
    const double g = standard_gamma(-1 / c.am1 - static_cast<double>(p.rank()) / 2, source);
    stretch = std::sqrt(-c.radius2 / (2 * g));
  }
  return p.mu() + stretch * (p.score().factor() * z);
}

Eigen::MatrixXd sample(const MultivariateBetaGaussian& p, index_t count, std::uint64_t seed) {
  if (count < 0) throw_invalid_argument("sample", "count", "must not be negative", count);
  constexpr index_t kCostPerEntry = 20;
  Eigen::MatrixXd draws(p.dimension(), count);
  const index_t cost = kCostPerEntry * (p.dimension() + 2) * (p.rank() + 2);
  parallel_rows(count, workers_for(count, cost), [&](index_t begin, index_t end, int) noexcept {
    for (index_t k = begin; k < end; ++k) {
      Philox rng(seed, static_cast<std::uint64_t>(k));
      draws.col(k) = sample(p, rng);
    }
  });
  return draws;
}

}  // namespace fenchel
