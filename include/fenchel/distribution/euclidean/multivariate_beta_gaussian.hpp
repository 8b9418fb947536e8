#pragma once

/// `MultivariateBetaGaussian` on R^N, with full, diagonal or singular Sigma.

#include <Eigen/Core>
#include <cstdint>
#include <random>

#include "fenchel/core/beta_gaussian.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel {

/// The points with (t - centre)^T shape^+ (t - centre) < radius2, in centre + image of shape.
struct Ellipsoid {
  Eigen::VectorXd centre;
  Eigen::MatrixXd shape;
  double radius2;
};

/// The score up to a constant, f(t) = linear . t + t^T quadratic t.
struct CanonicalParameters {
  Eigen::VectorXd linear;     ///< Sigma^-1 mu
  Eigen::MatrixXd quadratic;  ///< -Sigma^-1 / 2
};

/// The prediction of Tsallis(alpha) for f(t) = -(t - mu)^T Sigma^-1 (t - mu) / 2 on R^N [SCD22, Section 6].
/// With singular Sigma of rank r it is a density on mu + image of Sigma, with respect to its r-dimensional
/// volume.
class FENCHEL_EXPORT MultivariateBetaGaussian {
 public:
  using value_type = Eigen::VectorXd;

  /// Throws std::domain_error unless alpha > max(0, 1 - 2/r) (infinity is allowed) and radius2 is in the
  /// range of doubles, and as MultivariateQuadraticScore does.
  MultivariateBetaGaussian(double alpha, Eigen::VectorXd mu, Eigen::MatrixXd Sigma);
  /// Sigma = diag(sigma2).
  [[nodiscard]] static MultivariateBetaGaussian diagonal(double alpha, Eigen::VectorXd mu,
                                                         const Eigen::VectorXd& sigma2);
  /// The member with this covariance matrix; alpha > r / (r + 2) (docs/math.md 5.6).
  [[nodiscard]] static MultivariateBetaGaussian from_covariance(double alpha, Eigen::VectorXd mu,
                                                                const Eigen::MatrixXd& covariance);
  /// The member whose density is proportional to exp_{2-alpha}(-(t - mu)^T shape^+ (t - mu) / 2); alpha must
  /// be finite. Like every function that has to find Sigma it throws std::domain_error where Sigma would
  /// overflow, which is the rule at alpha = 1e4 and beyond.
  [[nodiscard]] static MultivariateBetaGaussian from_shape(double alpha, Eigen::VectorXd mu,
                                                           const Eigen::MatrixXd& shape);
  /// The member with this score up to a constant; -2 quadratic must be positive definite.
  [[nodiscard]] static MultivariateBetaGaussian from_canonical(double alpha,
                                                               const CanonicalParameters& theta);
  /// The density that is constant on the ellipsoid: alpha is infinite. It is the prediction of its score
  /// where the ellipsoid has volume one.
  [[nodiscard]] static MultivariateBetaGaussian uniform(const Ellipsoid& support);

  [[nodiscard]] double alpha() const noexcept { return alpha_; }
  [[nodiscard]] const Eigen::VectorXd& mu() const noexcept { return score_.mu(); }
  [[nodiscard]] const Eigen::MatrixXd& Sigma() const noexcept { return score_.Sigma(); }
  [[nodiscard]] index_t dimension() const noexcept { return score_.dimension(); }
  [[nodiscard]] index_t rank() const noexcept { return score_.rank(); }
  [[nodiscard]] const MultivariateQuadraticScore& score() const noexcept { return score_; }
  [[nodiscard]] const BetaGaussianConstants& constants() const noexcept { return constants_; }

 private:
  MultivariateBetaGaussian(MultivariateQuadraticScore score, double radius2);

  double alpha_;
  MultivariateQuadraticScore score_;
  BetaGaussianConstants constants_;
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
/// variance_factor * Sigma; infinite for alpha <= r / (r + 2), where entries of 0 stay 0.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd covariance(const MultivariateBetaGaussian& p);

/// Mardia's E[((t - mu)^T covariance^+ (t - mu))^2], r (r + 2) for the Gaussian: r (r + 2) (2 + (r + 2) am1)
/// / (2 + (r + 4) am1), infinite for alpha <= (r + 2) / (r + 4).
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const MultivariateBetaGaussian& p) noexcept;

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0; infinite where the integral is.
[[nodiscard]] FENCHEL_EXPORT double entropy(const MultivariateBetaGaussian& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const MultivariateBetaGaussian& p, double order);
/// d Omega_order(p) / d order, as for BetaGaussian.
[[nodiscard]] FENCHEL_EXPORT double negentropy_order_derivative(const MultivariateBetaGaussian& p,
                                                                double order);

/// p^order / int p^order: the member of the same form and support with alpha = 1 + am1 / order; uniform at
/// order 0 on a bounded support. Throws std::domain_error where there is none, naming the bound.
[[nodiscard]] FENCHEL_EXPORT MultivariateBetaGaussian escort(const MultivariateBetaGaussian& p, double order);

/// Throws std::domain_error where Sigma is singular.
[[nodiscard]] FENCHEL_EXPORT CanonicalParameters canonical_parameters(const MultivariateBetaGaussian& p);

namespace detail {
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd sample(const MultivariateBetaGaussian& p, BitSource source);
}

/// One draw.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] Eigen::VectorXd sample(const MultivariateBetaGaussian& p, Generator& rng) {
  return detail::sample(p, detail::bit_source(rng));
}

/// `count` draws as columns, the k-th from stream k of the seed: the same for every number of threads.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd sample(const MultivariateBetaGaussian& p, index_t count,
                                                    std::uint64_t seed);

static_assert(Distribution<MultivariateBetaGaussian>);

}  // namespace fenchel
