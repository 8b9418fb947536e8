#include "fenchel/predict/multivariate_quadratic.hpp"

#include <string>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/error.hpp"

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

}  // namespace fenchel
