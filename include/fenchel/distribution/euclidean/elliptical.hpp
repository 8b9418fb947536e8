#pragma once

/// `Elliptical`: a law on R^N with any non-increasing generator.

#include <Eigen/Core>
#include <cstdint>
#include <functional>
#include <random>
#include <span>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/euclidean.hpp"
#include "fenchel/score/multivariate_quadratic_score.hpp"

namespace fenchel {

/// The density proportional to g((t - mu)^T Sigma^-1 (t - mu)) for any non-increasing g >= 0 [SCD22, Section
/// 6.1; docs/math.md 5.9]: t = mu + r F u with Sigma = F F^T, u uniform on the sphere, and the radius r a
/// NumericDensity, whose accuracy all accessors have. With singular Sigma of rank n it is a density on mu +
/// image of Sigma. log_{2-alpha} of the density is a score of which it is the prediction, for any alpha.
class FENCHEL_EXPORT Elliptical {
 public:
  using value_type = Eigen::VectorXd;
  using LogGenerator = std::function<double(double)>;

  /// log g up to a constant, -infinity where g is 0. Throws std::domain_error unless log g is finite at 0,
  /// does not increase between the points that are looked at (4 to each factor of 2), and falls so fast that
  /// the mass is finite; as MultivariateQuadraticScore and NumericDensity do.
  Elliptical(LogGenerator log_generator, Eigen::VectorXd mu, Eigen::MatrixXd Sigma);

  [[nodiscard]] double log_generator(double q) const { return log_generator_(q); }
  [[nodiscard]] const Eigen::VectorXd& mu() const noexcept { return score_.mu(); }
  [[nodiscard]] const Eigen::MatrixXd& Sigma() const noexcept { return score_.Sigma(); }
  [[nodiscard]] index_t dimension() const noexcept { return score_.dimension(); }
  [[nodiscard]] index_t rank() const noexcept { return score_.rank(); }
  [[nodiscard]] const MultivariateQuadraticScore& quadratic() const noexcept { return score_; }
  /// The law of r.
  [[nodiscard]] const NumericDensity& radius() const noexcept { return radius_; }
  /// log p(t) - log g(q).
  [[nodiscard]] double log_constant() const noexcept { return log_constant_; }

 private:
  LogGenerator log_generator_;
  MultivariateQuadraticScore score_;
  NumericDensity radius_;
  double log_constant_;
};

[[nodiscard]] inline Euclidean domain(const Elliptical& p) { return Euclidean(p.dimension()); }
/// Radius2 is infinite where g has no end.
[[nodiscard]] FENCHEL_EXPORT Ellipsoid support(const Elliptical& p);

[[nodiscard]] FENCHEL_EXPORT double log_pdf(const Elliptical& p, const Eigen::Ref<const Eigen::VectorXd>& t);
[[nodiscard]] FENCHEL_EXPORT double pdf(const Elliptical& p, const Eigen::Ref<const Eigen::VectorXd>& t);

[[nodiscard]] inline const Eigen::VectorXd& mode(const Elliptical& p) noexcept { return p.mu(); }
[[nodiscard]] inline const Eigen::VectorXd& mean(const Elliptical& p) noexcept { return p.mu(); }
/// E[r^2] / n times Sigma; infinite where E[r^2] is, and entries of 0 stay 0.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd covariance(const Elliptical& p);

/// P((t - mu)^T Sigma^+ (t - mu) <= q): 0 for q <= 0, NaN for NaN.
[[nodiscard]] FENCHEL_EXPORT double radial_cdf(const Elliptical& p, double q);
/// The smallest ellipsoid of that mass. Throws std::domain_error unless the mass is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT Ellipsoid mahalanobis_contour(const Elliptical& p, double mass);

/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0.
[[nodiscard]] FENCHEL_EXPORT double entropy(const Elliptical& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const Elliptical& p, double order);

/// p^order / int p^order: the generator g^order. Throws std::domain_error unless the order is positive.
[[nodiscard]] FENCHEL_EXPORT Elliptical escort(const Elliptical& p, double order);

/// The law of t[indices], in that order: elliptical, with the generator int_0^inf u^{k-1} g(q + u^2) du where
/// k ranks were lost. Throws std::invalid_argument unless there are indices, all different and below the
/// dimension.
[[nodiscard]] FENCHEL_EXPORT Elliptical marginal(const Elliptical& p, std::span<const index_t> indices);

namespace detail {
[[nodiscard]] FENCHEL_EXPORT Eigen::VectorXd sample(const Elliptical& p, BitSource source);
}

/// One draw.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] Eigen::VectorXd sample(const Elliptical& p, Generator& rng) {
  return detail::sample(p, detail::bit_source(rng));
}

/// `count` draws as columns, the k-th from stream k of the seed, on one thread: g is somebody else's and may
/// throw.
[[nodiscard]] FENCHEL_EXPORT Eigen::MatrixXd sample(const Elliptical& p, index_t count, std::uint64_t seed);

static_assert(Distribution<Elliptical>);

}  // namespace fenchel
