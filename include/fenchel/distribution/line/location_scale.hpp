#pragma once

/// `LocationScale`: the prediction of `Tsallis(2)` for a score made of any convex g.

#include <concepts>
#include <cstdint>
#include <random>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/concept.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"
#include "fenchel/score/location_scale_score.hpp"

namespace fenchel {

/// The prediction of Tsallis(2) for f(t) = -g'(|t - mu| / sigma) / sigma, g convex [SCD22, Section 5.5]:
/// p = [f - tau]_+ on mu +- a sigma (docs/math.md E1), where a g'(a) - g(a) + g(0) = 1/2 and tau = -g'(a) /
/// sigma. g need not be strongly convex (E20). What is known of g bounds all accuracies.
class FENCHEL_EXPORT LocationScale {
 public:
  using value_type = double;

  /// Throws std::domain_error when g or g' is NaN on the way, when g' decreases on 33 equidistant points of
  /// [0, a], when a g'(a) - g(a) + g(0) does not reach 1/2, or when sigma is so small that tau or the peak
  /// overflows.
  explicit LocationScale(LocationScaleScore score);

  [[nodiscard]] const LocationScaleScore& score() const noexcept { return score_; }
  [[nodiscard]] double mu() const noexcept { return score_.mu(); }
  /// The same about 0.
  [[nodiscard]] LocationScale centred() const {
    LocationScale p = *this;
    p.score_ = score_.moved(-mu());
    return p;
  }
  [[nodiscard]] double sigma() const noexcept { return score_.sigma(); }
  /// half_width / sigma.
  [[nodiscard]] double a() const noexcept { return a_; }
  [[nodiscard]] double half_width() const noexcept { return a_ * score_.sigma(); }
  /// g(a) and g'(a).
  [[nodiscard]] double edge_g() const noexcept { return edge_g_; }
  [[nodiscard]] double edge_slope() const noexcept { return edge_slope_; }
  /// tau.
  [[nodiscard]] double threshold() const noexcept { return -edge_slope_ / score_.sigma(); }

 private:
  LocationScaleScore score_;
  double a_, edge_g_, edge_slope_;
};

[[nodiscard]] inline Line domain(const LocationScale&) noexcept { return {}; }
/// mu +- half_width.
[[nodiscard]] FENCHEL_EXPORT Interval support(const LocationScale& p) noexcept;

/// f - tau: the density on the support, negative off it.
[[nodiscard]] FENCHEL_EXPORT double excess_score(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double log_pdf(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double pdf(const LocationScale& p, double t);

/// P(X <= t), P(X > t) and their logarithms. With y = |t - mu| / sigma the tail is (a - y) g'(a) - g(a) +
/// g(y), and where that cancels the integral of g'(a) - g'.
[[nodiscard]] FENCHEL_EXPORT double cdf(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double survival(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double log_cdf(const LocationScale& p, double t);
[[nodiscard]] FENCHEL_EXPORT double log_survival(const LocationScale& p, double t);

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
[[nodiscard]] FENCHEL_EXPORT double quantile(const LocationScale& p, double u);
[[nodiscard]] FENCHEL_EXPORT double survival_quantile(const LocationScale& p, double u);

[[nodiscard]] inline double mode(const LocationScale& p) noexcept { return p.mu(); }
[[nodiscard]] inline double median(const LocationScale& p) noexcept { return p.mu(); }
[[nodiscard]] inline double mean(const LocationScale& p) noexcept { return p.mu(); }
[[nodiscard]] FENCHEL_EXPORT double variance(const LocationScale& p);
[[nodiscard]] FENCHEL_EXPORT double standard_deviation(const LocationScale& p);
[[nodiscard]] inline double skewness(const LocationScale&) noexcept { return 0; }
[[nodiscard]] FENCHEL_EXPORT double kurtosis(const LocationScale& p);
/// E(t - mu)^n, by quadrature; odd ones 0. Throws std::domain_error for n < 0.
[[nodiscard]] FENCHEL_EXPORT double central_moment(const LocationScale& p, int n);

/// int p^2.
[[nodiscard]] FENCHEL_EXPORT double mean_density(const LocationScale& p);
/// Shannon entropy, and Tsallis entropy -Omega_order of any order > 0, by quadrature.
[[nodiscard]] FENCHEL_EXPORT double entropy(const LocationScale& p);
[[nodiscard]] FENCHEL_EXPORT double tsallis_entropy(const LocationScale& p, double order);

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
[[nodiscard]] FENCHEL_EXPORT NumericDensity escort(const LocationScale& p, double order);

[[nodiscard]] inline const LocationScaleScore& score(const LocationScale& p) noexcept { return p.score(); }

/// Derivatives with respect to the parameters of a LocationScaleScore.
struct LocationScaleGradient {
  double mu, sigma;
};

namespace detail {
/// g''(y) from differences of g' of order 6 with a step of 2e-3 `unit`, on [0, inf): relative error about
/// 1e-11 where g' is smooth on that scale. Its derivative, with a step of 1e-2 and an error of about 1e-9.
[[nodiscard]] FENCHEL_EXPORT double curvature(const LocationScaleScore& f, double y, double unit);
[[nodiscard]] FENCHEL_EXPORT double curvature_slope(const LocationScaleScore& f, double y, double unit);

[[nodiscard]] FENCHEL_EXPORT LocationScaleGradient expectation_gradient(const LocationScale& p,
                                                                        FunctionRef<double(double)> psi,
                                                                        double accuracy,
                                                                        std::span<const double> cuts);
}  // namespace detail

/// The derivatives of E[psi(t)] with respect to the parameters of the family, cov_{p,0} with those of the
/// score [SCD22, Section 4.2; docs/math.md 2.6], for any callable: psi need not be differentiable, and may
/// change quickly at `cuts`. g'' is taken by differences, to about 1e-11. Throws as expectation does.
template <std::invocable<double> F>
[[nodiscard]] LocationScaleGradient expectation_gradient(const LocationScale& p, F&& psi,
                                                         double accuracy = 1e-10,
                                                         std::span<const double> cuts = {}) {
  return detail::expectation_gradient(p, psi, accuracy, cuts);
}

/// One draw, by inversion.
template <std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const LocationScale& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}
/// As the generic one, on one thread: g is somebody else's and may throw.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> sample(const LocationScale& p, index_t count,
                                                        std::uint64_t seed);

static_assert(LineDistribution<LocationScale>);

}  // namespace fenchel
