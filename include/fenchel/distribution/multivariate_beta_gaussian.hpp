#pragma once

#include <Eigen/Core>
#include <random>
#include <span>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(alpha) for f(t) = -(t - mu)^T Sigma^-1 (t - mu) / 2 on R^N [SCD22, Section 6].
/// With singular Sigma of rank r it is a density on mu + image of Sigma, with respect to its r-dimensional
/// volume.
class FENCHEL_EXPORT MultivariateBetaGaussian {
 public:
  using value_type = Eigen::VectorXd;

  /// Throws std::domain_error unless alpha > max(0, 1 - 2/r) (infinity is allowed), and as
  /// MultivariateQuadraticScore does.
  MultivariateBetaGaussian(double alpha, Eigen::VectorXd mu, Eigen::MatrixXd scale);
  /// Sigma = diag(scale).
  [[nodiscard]] static MultivariateBetaGaussian diagonal(double alpha, Eigen::VectorXd mu,
                                                         const Eigen::VectorXd& scale);
  /// The member with this covariance matrix; alpha > r / (r + 2) (MATH.md 5.6).
  [[nodiscard]] static MultivariateBetaGaussian from_covariance(double alpha, Eigen::VectorXd mu,
                                                                const Eigen::MatrixXd& covariance);

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  [[nodiscard]] const Eigen::VectorXd& mu() const noexcept { return score_.mu(); }
  [[nodiscard]] const Eigen::MatrixXd& scale() const noexcept { return score_.scale(); }
  [[nodiscard]] index_t dimension() const noexcept { return score_.dimension(); }
  [[nodiscard]] index_t rank() const noexcept { return score_.rank(); }
  [[nodiscard]] const MultivariateQuadraticScore& score() const noexcept { return score_; }
  [[nodiscard]] const BetaGaussianConstants& constants() const noexcept { return constants_; }

 private:
  double alpha_;
  MultivariateQuadraticScore score_;
  BetaGaussianConstants constants_;
};

/// The points with (t - centre)^T shape^+ (t - centre) < radius2, in centre + image of shape.
struct Ellipsoid {
  Eigen::VectorXd centre;
  Eigen::MatrixXd shape;
  double radius2;
};

[[nodiscard]] inline Euclidean domain(const MultivariateBetaGaussian& p) { return Euclidean(p.dimension()); }
[[nodiscard]] inline const MultivariateQuadraticScore& score(const MultivariateBetaGaussian& p) noexcept {
  return p.score();
}
/// Radius2 is infinite for alpha <= 1.
[[nodiscard]] FENCHEL_EXPORT Ellipsoid support(const MultivariateBetaGaussian& p);

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const MultivariateBetaGaussian& p,
                                            const Eigen::Ref<const Eigen::VectorXd>& t);
[[nodiscard]] FENCHEL_EXPORT double pdf(const MultivariateBetaGaussian& p,
                                        const Eigen::Ref<const Eigen::VectorXd>& t);

[[nodiscard]] inline const Eigen::VectorXd& mode(const MultivariateBetaGaussian& p) noexcept {
  return p.mu();
}
[[nodiscard]] inline const Eigen::VectorXd& mean(const MultivariateBetaGaussian& p) noexcept {
  return p.mu();
}
/// variance_factor * Sigma.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd covariance(const MultivariateBetaGaussian& p);

/// Shannon entropy, and Tsallis entropy -Omega_order.
[[nodiscard]] FENCHEL_EXPORT double entropy(const MultivariateBetaGaussian& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const MultivariateBetaGaussian& p, double order);
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian escort(const MultivariateBetaGaussian& p, double order);

namespace detail {
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd sample(const MultivariateBetaGaussian& p, BitSource source);
}

/// One draw.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] Eigen::VectorXd sample(const MultivariateBetaGaussian& p, Generator& rng) {
  return detail::sample(p, detail::bit_source(rng));
}

static_assert(Distribution<MultivariateBetaGaussian>);

}  // namespace fenchel
