#pragma once

/// Mixtures of beta-Gaussians on R^N.

#include <Eigen/Core>
#include <cstdint>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/mixture.hpp"
#include "fenchel/domain/euclidean.hpp"

/// Mixtures of beta-Gaussians on R^N; pdf, log_pdf and sample(p, rng) are those of every mixture.
namespace fenchel {

[[nodiscard]] FENCHEL_EXPORT Euclidean domain(const Mixture<MultivariateBetaGaussian>& p);

[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd mean(const Mixture<MultivariateBetaGaussian>& p);
/// Within the components plus between their means; infinite where a component's is.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd covariance(const Mixture<MultivariateBetaGaussian>& p);

/// `count` draws as columns, the k-th from stream k of the seed.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd sample(const Mixture<MultivariateBetaGaussian>& p, index_t count,
                                                    std::uint64_t seed);

}  // namespace fenchel
