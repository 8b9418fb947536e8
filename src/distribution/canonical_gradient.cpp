#include "fenchel/distribution/canonical_gradient.hpp"

namespace fenchel {

CanonicalParameters canonical_gradient(const MultivariateBetaGaussian& p,
                                       const MultivariateQuadraticGradient& gradient) {
  const Eigen::VectorXd first = p.Sigma() * gradient.mu;
  return {first, 2 * p.Sigma() * gradient.Sigma * p.Sigma() + first * p.mu().transpose() +
                     p.mu() * first.transpose()};
}

MultivariateQuadraticGradient canonical_direction(const MultivariateBetaGaussian& p,
                                                  const CanonicalParameters& direction) {
  const Eigen::MatrixXd move = 2 * p.Sigma() * direction.quadratic;
  return {p.Sigma() * direction.linear + move * p.mu(), move * p.Sigma(), 0};
}

}  // namespace fenchel
