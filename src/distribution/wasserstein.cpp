#include "fenchel/distribution/wasserstein.hpp"

#include <cmath>
#include <utility>

#include "fenchel/core/check.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"
#include "score/factorizations.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {
namespace {

using Eigen::MatrixXd, Eigen::VectorXd;

template <class P>
void check_pair(const P& p, const P& q, index_t n) {
  if (p.alpha() != q.alpha())
    throw_domain_error("wasserstein", "alpha", "must be the same for both, here " + shortest(p.alpha()),
                       q.alpha());
  if (!(p.constants().variance_factor < kInfinity))
    throw_domain_error("wasserstein", "alpha",
                       "must be above " + shortest(n) + "/" + shortest(n + 2) + " for a finite variance",
                       p.alpha());
}

/// The symmetric matrix T with T P T = Q for P = L L^T and Q the covariances: L^-T (L^T Q L)^{1/2} L^-1.
MatrixXd optimal_matrix(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q) {
  const index_t n = p.dimension();
  if (q.dimension() != n)
    throw_invalid_argument("wasserstein", "q.dimension()", "must be p.dimension() = " + shortest(n),
                           q.dimension());
  check_pair(p, q, n);
  detail::check_regular("wasserstein", "p.rank()", p.rank(), n);
  const MatrixXd &factor = p.score().factor(), &white = p.score().whitening();
  const MatrixXd square = factor.transpose() * q.Sigma() * factor;
  const Eigen::SelfAdjointEigenSolver<MatrixXd> eigen(square);
  const MatrixXd root = eigen.eigenvectors() * eigen.eigenvalues().cwiseMax(0).cwiseSqrt().asDiagonal() *
                        eigen.eigenvectors().transpose();
  const double stretch = std::sqrt(q.constants().variance_factor / p.constants().variance_factor);
  return stretch * (white.transpose() * root * white);
}

/// The difference of the means, and what the spread costs: W2^2 is the sum of the squares of all entries.
std::pair<double, double> parts(const BetaGaussian& p, const BetaGaussian& q) {
  check_pair(p, q, 1);
  return {q.mu() - p.mu(), standard_deviation(q) - standard_deviation(p)};
}

std::pair<VectorXd, MatrixXd> parts(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q) {
  const MatrixXd move = optimal_matrix(p, q) - MatrixXd::Identity(p.dimension(), p.dimension());
  return {q.mu() - p.mu(), std::sqrt(p.constants().variance_factor) * (move * p.score().factor())};
}

double optimal_slope(const BetaGaussian& p, const BetaGaussian& q) {
  check_pair(p, q, 1);
  return standard_deviation(q) / standard_deviation(p);
}

void check_shift(bool finite, double mu) {
  if (!finite) throw_domain_error("wasserstein", "mu of p", "must keep the map in the range of doubles", mu);
}

}  // namespace

AffineMap optimal_map(const BetaGaussian& p, const BetaGaussian& q) {
  const double slope = optimal_slope(p, q), shift = q.mu() - slope * p.mu();
  check_shift(std::isfinite(shift), p.mu());
  return {slope, shift};
}

MultivariateAffineMap optimal_map(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q) {
  MatrixXd matrix = optimal_matrix(p, q);
  VectorXd shift = q.mu() - matrix * p.mu();
  index_t largest = 0;
  p.mu().cwiseAbs().maxCoeff(&largest);
  check_shift(shift.allFinite(), p.mu()[largest]);
  return {std::move(matrix), std::move(shift)};
}

double wasserstein2_squared(const BetaGaussian& p, const BetaGaussian& q) {
  const auto [shift, spread] = parts(p, q);
  return shift * shift + spread * spread;
}

double wasserstein2_squared(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q) {
  const auto [shift, spread] = parts(p, q);
  return shift.squaredNorm() + spread.squaredNorm();
}

double wasserstein2(const BetaGaussian& p, const BetaGaussian& q) {
  const auto [shift, spread] = parts(p, q);
  return std::hypot(shift, spread);
}

double wasserstein2(const MultivariateBetaGaussian& p, const MultivariateBetaGaussian& q) {
  const auto [shift, spread] = parts(p, q);
  return std::hypot(shift.stableNorm(), spread.stableNorm());
}

BetaGaussian wasserstein_geodesic(const BetaGaussian& p, const BetaGaussian& q, double s) {
  detail::checked_probability("wasserstein_geodesic", "s", s);
  const double slope = 1 - s + s * optimal_slope(p, q);
  if (s == 0) return p;
  if (s == 1) return q;
  const double mu = (1 - s) * p.mu() + s * q.mu();
  return BetaGaussian::from_variance(p.alpha(), mu, slope * slope * variance(p));
}

MultivariateBetaGaussian wasserstein_geodesic(const MultivariateBetaGaussian& p,
                                              const MultivariateBetaGaussian& q, double s) {
  detail::checked_probability("wasserstein_geodesic", "s", s);
  const MultivariateAffineMap map = optimal_map(p, q);
  if (s == 0) return p;
  if (s == 1) return q;
  const auto identity = MatrixXd::Identity(p.dimension(), p.dimension());
  return affine(p, (1 - s) * identity + s * map.matrix, s * map.shift);
}

}  // namespace fenchel
