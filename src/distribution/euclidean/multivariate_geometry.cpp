#include "fenchel/distribution/euclidean/multivariate_geometry.hpp"

#include <algorithm>
#include <boost/math/special_functions/beta.hpp>
#include <boost/math/special_functions/gamma.hpp>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "distribution/euclidean/indices.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/core/infinity.hpp"
#include "score/factorizations.hpp"

namespace fenchel {
namespace {

double half_rank(const MultivariateBetaGaussian& p) { return static_cast<double>(p.rank()) / 2; }

/// The second parameter of the beta law of q / radius2, or for alpha < 1 of q / (q - radius2).
double tail_shape(const MultivariateBetaGaussian& p) {
  const double am1 = p.alpha() - 1;
  return am1 > 0 ? 1 + 1 / am1 : -1 / am1 - half_rank(p);
}

std::vector<index_t> other_indices(std::span<const index_t> indices, index_t dimension) {
  std::vector<index_t> others;
  for (index_t i = 0; i < dimension; ++i) {
    if (std::find(indices.begin(), indices.end(), i) == indices.end()) others.push_back(i);
  }
  return others;
}

/// The law of mu + factor x, where p is that of p.mu() + p.score().factor() x.
MultivariateBetaGaussian image(const MultivariateBetaGaussian& p, Eigen::VectorXd mu,
                               const Eigen::MatrixXd& factor) {
  const Eigen::MatrixXd shape = factor * factor.transpose();
  const MultivariateQuadraticScore score(mu, shape);
  const double am1 = p.alpha() - 1, lost = static_cast<double>(p.rank() - score.rank());
  if (std::isinf(am1)) {
    if (lost == 0) return MultivariateBetaGaussian::uniform({std::move(mu), shape, p.constants().radius2});
    return MultivariateBetaGaussian::from_shape(1 + 2 / lost, std::move(mu),
                                                p.constants().radius2 / lost * shape);
  }
  const double width = 2 + lost * am1;
  return MultivariateBetaGaussian::from_shape(1 + 2 * am1 / width, std::move(mu),
                                              2 * p.constants().peak_power / width * shape);
}

}  // namespace

double radial_cdf(const MultivariateBetaGaussian& p, double q) {
  const double half = half_rank(p), am1 = p.alpha() - 1, radius2 = p.constants().radius2;
  if (std::isnan(q)) return q;
  if (q <= 0) return 0;
  if (std::isinf(q)) return 1;
  if (am1 == 0) return boost::math::gamma_p(half, q / 2);
  if (am1 > 0) return q >= radius2 ? 1 : boost::math::ibeta(half, tail_shape(p), q / radius2);
  const double far = 1 / (1 - q / radius2);
  return far < 0.5 ? boost::math::ibetac(tail_shape(p), half, far)
                   : boost::math::ibeta(half, tail_shape(p), 1 / (1 - radius2 / q));
}

Ellipsoid mahalanobis_contour(const MultivariateBetaGaussian& p, double mass) {
  detail::checked_probability("mahalanobis_contour", "mass", mass);
  const double half = half_rank(p), am1 = p.alpha() - 1, radius2 = p.constants().radius2;
  if (mass == 1) return support(p);
  double q = 0;
  if (mass > 0 && am1 == 0) q = 2 * boost::math::gamma_p_inv(half, mass);
  if (mass > 0 && am1 != 0) {
    double far;
    const double near = boost::math::ibeta_inv(half, tail_shape(p), mass, &far);
    q = am1 > 0 ? radius2 * near : -radius2 * (near / far);
  }
  return {p.mu(), p.Sigma(), q};
}

bool contains(const Ellipsoid& ellipsoid, const Eigen::Ref<const Eigen::VectorXd>& t) {
  return MultivariateQuadraticScore(ellipsoid.centre, ellipsoid.shape).mahalanobis2(t) < ellipsoid.radius2;
}

MultivariateBetaGaussian affine(const MultivariateBetaGaussian& p, const Eigen::MatrixXd& B,
                                const Eigen::VectorXd& b) {
  if (B.cols() != p.dimension())
    throw_invalid_argument("affine", "B.cols()", "must be the dimension " + shortest(p.dimension()),
                           index_t{B.cols()});
  if (b.size() != B.rows())
    throw_invalid_argument("affine", "b.size()", "must be B.rows() = " + shortest(index_t{B.rows()}),
                           index_t{b.size()});
  return image(p, B * p.mu() + b, B * p.score().factor());
}

MultivariateBetaGaussian marginal(const MultivariateBetaGaussian& p, std::span<const index_t> indices) {
  detail::check_indices("marginal", p.dimension(), indices);
  return image(p, p.mu()(indices), p.score().factor()(indices, Eigen::all));
}

/// With t = mu + F x and the rows F_a x = values - mu_a given, x = y + Q w, where y is the shortest solution,
/// of length^2 q_a, and Q spans the null space of F_a. There q = q_a + |w|^2: 1 - q/radius2 splits into two
/// factors.
MultivariateBetaGaussian conditional(const MultivariateBetaGaussian& p, std::span<const index_t> indices,
                                     const Eigen::VectorXd& values) {
  detail::check_indices("conditional", p.dimension(), indices);
  if (values.size() != static_cast<index_t>(indices.size()))
    throw_invalid_argument("conditional", "values.size()",
                           "must be indices.size() = " + shortest(static_cast<index_t>(indices.size())),
                           index_t{values.size()});
  const std::vector<index_t> others = other_indices(indices, p.dimension());
  const Eigen::MatrixXd& factor = p.score().factor();
  const Eigen::MatrixXd given = factor(indices, Eigen::all), rest = factor(others, Eigen::all);
  const Eigen::VectorXd mu_given = p.mu()(indices);
  const MultivariateQuadraticScore score(mu_given, given * given.transpose());
  const double q = score.mahalanobis2(values), am1 = p.alpha() - 1;
  const double left = am1 == 0 ? (q < kInfinity ? 1.0 : 0.0) : 1 - q / p.constants().radius2;
  if (!(left > 0 && left < kInfinity))
    throw_domain_error("conditional", "the density of the values", "must be positive", 0);
  const index_t free = p.rank() - score.rank();
  if (free == 0)
    throw_domain_error("conditional", "the rank that the values leave free", "must be positive", 0);

  const Eigen::VectorXd lengths = given.rowwise().norm();
  const Eigen::VectorXd units = lengths.unaryExpr([](double x) { return x > 0 ? 1 / x : 1.0; });
  const Eigen::MatrixXd equilibrated = given.transpose() * units.asDiagonal();
  const Eigen::ColPivHouseholderQR<Eigen::MatrixXd> qr(equilibrated);
  const Eigen::MatrixXd orthogonal = qr.householderQ(), slice = rest * orthogonal.rightCols(free);
  const Eigen::VectorXd white = score.whitening() * (values - mu_given);
  const Eigen::VectorXd mu =
      p.mu()(others) + rest * (given.transpose() * (score.whitening().transpose() * white));
  const Eigen::MatrixXd shape = slice * slice.transpose();
  if (std::isinf(am1)) return MultivariateBetaGaussian::uniform({mu, shape, p.constants().radius2 * left});
  return MultivariateBetaGaussian::from_shape(p.alpha(), mu, p.constants().peak_power * left * shape);
}

}  // namespace fenchel
