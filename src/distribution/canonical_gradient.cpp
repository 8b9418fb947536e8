#include "fenchel/distribution/canonical_gradient.hpp"

namespace fenchel {

CanonicalParameters canonical_gradient(const MultivariateBetaGaussian& p,
                                       const MultivariateQuadraticGradient& gradient) {
  const Eigen::VectorXd first = p.scale() * gradient.mu;
  return {first, 2 * p.scale() * gradient.scale * p.scale() + first * p.mu().transpose() +
                     p.mu() * first.transpose()};
}

MultivariateQuadraticGradient canonical_direction(const MultivariateBetaGaussian& p,
                                                  const CanonicalParameters& direction) {
  const Eigen::MatrixXd move = 2 * p.scale() * direction.quadratic;
  return {p.scale() * direction.linear + move * p.mu(), move * p.scale(), 0};
}

}  // namespace fenchel
