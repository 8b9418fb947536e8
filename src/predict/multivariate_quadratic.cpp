#include "fenchel/predict/multivariate_quadratic.hpp"

#include <cmath>
#include <string>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/error.hpp"
#include "predict/quadratic_hessian.hpp"
#include "score/semidefinite_factor.hpp"

namespace fenchel {

MultivariateBetaGaussian predict(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                 const Euclidean& domain) {
  if (f.dimension() != domain.dimension())
    throw_invalid_argument("predict", "f.dimension()",
                           "must be the domain's dimension " + shortest(domain.dimension()), f.dimension());
  const double am1 = omega.alpha() - 1;
  const index_t rank = f.rank();
  if (!(2 + static_cast<double>(rank + 2) * am1 > 0))
    throw_domain_error("predict", "alpha",
                       "must be greater than " + shortest(rank) + "/" + shortest(rank + 2) +
                           " for a score of rank " + shortest(rank),
                       omega.alpha());
  return {omega.alpha(), f.mu(), omega.temperature() * f.Sigma()};
}

double conjugate(const Tsallis& omega, const MultivariateQuadraticScore& f, const Euclidean& domain) {
  return omega.temperature() * detail::beta_gaussian_conjugate(predict(omega, f, domain).constants());
}

double normalizer(const Tsallis& omega, const MultivariateQuadraticScore& f, const Euclidean& domain) {
  return omega.temperature() * predict(omega, f, domain).constants().normalizer;
}

CanonicalParameters normalizer_gradient(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                        const Euclidean& domain) {
  const MultivariateBetaGaussian p = predict(omega, f, domain);
  const double factor = escort_moments(p.constants()).q_mean / static_cast<double>(p.rank());
  return {p.mu(), p.mu() * p.mu().transpose() + factor * p.Sigma()};
}

Eigen::MatrixXd normalizer_hessian(const Tsallis& omega, const MultivariateQuadraticScore& f,
                                   const Euclidean& domain) {
  detail::check_regular("normalizer_hessian", "f.rank()", f.rank(), f.dimension());
  const MultivariateBetaGaussian p = predict(omega, f, domain);
  const double factor = escort_moments(p.constants()).q_mean / static_cast<double>(p.dimension());
  return detail::quadratic_hessian(f.mu(), f.Sigma(), omega.temperature() * factor, p.constants().am1);
}

Eigen::MatrixXd detail::quadratic_hessian(const Eigen::VectorXd& mu, const Eigen::MatrixXd& s, double v,
                                          double am1) {
  const index_t n = mu.size();
  const auto size = static_cast<double>(n);
  const double mean_part = std::isinf(am1) ? 2 / size : 2 * am1 / (2 + size * am1);
  Eigen::MatrixXd h(n + n * n, n + n * n);
  h.topLeftCorner(n, n) = s;
  for (index_t i = 0; i < n; ++i) {
    for (index_t j = 0; j < n; ++j) {
      const index_t ij = n + i + n * j;
      h.row(ij).head(n) = mu[i] * s.row(j) + mu[j] * s.row(i);
      h.col(ij).head(n) = h.row(ij).head(n).transpose();
      for (index_t k = 0; k < n; ++k) {
        for (index_t l = 0; l < n; ++l)
          h(ij, n + k + n * l) = v * (s(i, k) * s(j, l) + s(i, l) * s(j, k) - mean_part * s(i, j) * s(k, l)) +
                                 mu[i] * (mu[k] * s(j, l) + mu[l] * s(j, k)) +
                                 mu[j] * (mu[k] * s(i, l) + mu[l] * s(i, k));
      }
    }
  }
  return h;
}

}  // namespace fenchel
