#include "fenchel/distribution/euclidean/multivariate_mixture.hpp"

#include "fenchel/core/checkpoint.hpp"

namespace fenchel {

Euclidean domain(const Mixture<MultivariateBetaGaussian>& p) { return domain(p.components()[0]); }

Eigen::VectorXd mean(const Mixture<MultivariateBetaGaussian>& p) {
  Eigen::VectorXd sum = Eigen::VectorXd::Zero(p.components()[0].dimension());
  detail::for_each_component(
      p, [&](double weight, const MultivariateBetaGaussian& c) { sum += weight * c.mu(); });
  return sum;
}

Eigen::MatrixXd covariance(const Mixture<MultivariateBetaGaussian>& p) {
  const Eigen::VectorXd centre = mean(p);
  Eigen::MatrixXd sum = Eigen::MatrixXd::Zero(centre.size(), centre.size());
  detail::for_each_component(p, [&](double weight, const MultivariateBetaGaussian& c) {
    const Eigen::VectorXd offset = c.mu() - centre;
    sum += weight * (covariance(c) + offset * offset.transpose());
  });
  return sum;
}

Eigen::MatrixXd sample(const Mixture<MultivariateBetaGaussian>& p, index_t count, std::uint64_t seed) {
  if (count < 0) throw_invalid_argument("sample", "count", "must not be negative", count);
  Eigen::MatrixXd draws(p.components()[0].dimension(), count);
  for (index_t k = 0; k < count; ++k) {
    checkpoint_at(k);
    Philox rng(seed, static_cast<std::uint64_t>(k));
    draws.col(k) = sample(p, rng);
  }
  return draws;
}

}  // namespace fenchel
