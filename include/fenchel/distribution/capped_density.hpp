#pragma once

#include <cmath>
#include <concepts>
#include <random>
#include <string_view>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/generic.hpp"
#include "fenchel/distribution/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

/// What CappedTriangular (k = 1) and CappedParabola (k = 2) share: the prediction of TotalVariation(gamma)
/// for f(t) = -|t - mu|^k / (k s) on the line is p = min(f, f(mu + a)) - tau on mu +- b, a plateau on mu +- a
/// between slopes, a^{k+1} = (k + 1) s gamma, b^{k+1} = (k + 1) s (1/2 + gamma), tau = f(mu + b) [SCD22,
/// Section 7; MATH.md 6.1].
namespace fenchel {
namespace detail {

/// Such a density about 0. Depths x = 1 - |y| / b are counted from the edge of the support, as the slopes,
/// on which x < 1 - a / b, may be thin: nothing cancels for any gamma.
class FENCHEL_EXPORT CappedShape {
 public:
  /// Throws std::domain_error, `where` and the scale being named, unless gamma is finite and not negative, s
  /// positive and finite, and neither the peak nor tau overflows.
  CappedShape(std::string_view where, int degree, double gamma, std::string_view name, double scale);
  /// The s at which the variance is as given.
  [[nodiscard]] static double scale_of_variance(std::string_view where, int degree, double gamma,
                                                double variance);

  [[nodiscard]] int degree() const noexcept { return degree_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  [[nodiscard]] double plateau() const noexcept { return plateau_; }
  /// 1 - a / b.
  [[nodiscard]] double slope_share() const noexcept { return slope_share_; }
  /// a / b.
  [[nodiscard]] double plateau_share() const noexcept { return plateau_share_; }
  [[nodiscard]] double threshold() const noexcept;

  /// 1 - |y| / b, at most that of the plateau's edge.
  [[nodiscard]] double depth(double y) const noexcept;
  /// b (f - tau) at a depth up to slope_share: the density on a support of half width 1.
  [[nodiscard]] double height(double x) const noexcept;
  /// The mass beyond that depth, on one side.
  [[nodiscard]] double tail(double x) const noexcept;
  /// E|y / b|^n.
  [[nodiscard]] double unit_moment(int n) const noexcept;

  [[nodiscard]] double excess(double y) const noexcept { return height(depth(y)) / half_width_; }
  [[nodiscard]] double density(double y) const noexcept;
  [[nodiscard]] double derivative(double y) const noexcept;
  /// P(Y > y), and its logarithm.
  [[nodiscard]] double beyond(double y) const noexcept;
  [[nodiscard]] double log_beyond(double y) const noexcept;
  /// The depth at which the mass beyond is u, no more than that beyond the plateau.
  [[nodiscard]] double tail_depth(double u) const noexcept;
  /// The y >= 0 with P(Y > y) = u <= 1/2.
  [[nodiscard]] double tail_distance(double u) const noexcept;
  [[nodiscard]] double absolute_moment(int n) const;
  [[nodiscard]] double mean_deviation(double y) const noexcept;
  [[nodiscard]] double mean_density() const noexcept;
  [[nodiscard]] double tsallis_entropy(double order) const;

  [[nodiscard]] double expectation(FunctionRef<double(double)> f, double mu, double accuracy) const;
  struct Gradient {
    double mu, scale, gamma;
  };
  [[nodiscard]] Gradient expectation_gradient(FunctionRef<double(double)> psi, double mu,
                                              double accuracy) const;

 private:
  [[nodiscard]] double near_tail(double y) const noexcept;

  int degree_;
  double scale_, gamma_, total_, half_width_, plateau_, slope_share_, plateau_share_;
};

[[nodiscard]] FENCHEL_EXPORT double capped_quantile(const CappedShape& shape, double mu, double u);
[[nodiscard]] FENCHEL_EXPORT double capped_survival_quantile(const CappedShape& shape, double mu, double u);
[[nodiscard]] FENCHEL_EXPORT NumericDensity capped_escort(const CappedShape& shape, double mu, double order);

}  // namespace detail

template <class P>
concept CappedDensity = requires(const P& p) {
  { p.shape() } -> std::same_as<const detail::CappedShape&>;
  { p.mu() } -> std::same_as<double>;
};

template <CappedDensity P>
[[nodiscard]] Line domain(const P&) noexcept {
  return {};
}
/// mu +- b.
template <CappedDensity P>
[[nodiscard]] Interval support(const P& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}
/// Where the density has a corner, besides at the ends of its support: mu +- a.
template <CappedDensity P>
[[nodiscard]] std::vector<double> kinks(const P& p) {
  return {p.mu() - p.plateau(), p.mu() + p.plateau()};
}

/// min(f, f(mu + a)) - tau: the density on the support, f - tau off it.
template <CappedDensity P>
[[nodiscard]] double excess_score(const P& p, double t) noexcept {
  return p.shape().excess(t - p.mu());
}
template <CappedDensity P>
[[nodiscard]] double pdf(const P& p, double t) noexcept {
  return p.shape().density(t - p.mu());
}
template <CappedDensity P>
[[nodiscard]] double log_pdf(const P& p, double t) noexcept {
  return std::log(pdf(p, t));
}
/// p'(t), 0 at the corners.
template <CappedDensity P>
[[nodiscard]] double pdf_derivative(const P& p, double t) noexcept {
  return p.shape().derivative(t - p.mu());
}

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy.
template <CappedDensity P>
[[nodiscard]] double cdf(const P& p, double t) noexcept {
  return p.shape().beyond(p.mu() - t);
}
template <CappedDensity P>
[[nodiscard]] double survival(const P& p, double t) noexcept {
  return p.shape().beyond(t - p.mu());
}
template <CappedDensity P>
[[nodiscard]] double log_cdf(const P& p, double t) noexcept {
  return p.shape().log_beyond(p.mu() - t);
}
template <CappedDensity P>
[[nodiscard]] double log_survival(const P& p, double t) noexcept {
  return p.shape().log_beyond(t - p.mu());
}

/// The t with cdf u, or with survival u, in closed form. Throw std::domain_error unless u is in [0, 1].
template <CappedDensity P>
[[nodiscard]] double quantile(const P& p, double u) {
  return detail::capped_quantile(p.shape(), p.mu(), u);
}
template <CappedDensity P>
[[nodiscard]] double survival_quantile(const P& p, double u) {
  return detail::capped_survival_quantile(p.shape(), p.mu(), u);
}

template <CappedDensity P>
[[nodiscard]] double mode(const P& p) noexcept {
  return p.mu();
}
template <CappedDensity P>
[[nodiscard]] double mean(const P& p) noexcept {
  return p.mu();
}
/// E|t - mu|^n = 2 (b^{n+k+1} - a^{n+k+1}) / ((n + 1) (n + k + 1) s). Throws std::domain_error for n < 0.
template <CappedDensity P>
[[nodiscard]] double absolute_moment(const P& p, int n) {
  return p.shape().absolute_moment(n);
}
/// E|X - t|.
template <CappedDensity P>
[[nodiscard]] double mean_deviation(const P& p, double t) noexcept {
  return p.shape().mean_deviation(t - p.mu());
}
template <CappedDensity P>
[[nodiscard]] double variance(const P& p) noexcept {
  return p.shape().absolute_moment(2);
}
template <CappedDensity P>
[[nodiscard]] double skewness(const P&) noexcept {
  return 0;
}
/// E(t - mu)^4 / variance^2.
template <CappedDensity P>
[[nodiscard]] double kurtosis(const P& p) noexcept {
  const double second = p.shape().unit_moment(2);
  return p.shape().unit_moment(4) / (second * second);
}
/// E(t - mu)^n, odd ones 0. Throws std::domain_error for n < 0.
template <CappedDensity P>
[[nodiscard]] double central_moment(const P& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n % 2 == 1 ? 0 : p.shape().absolute_moment(n);
}

/// int p^2.
template <CappedDensity P>
[[nodiscard]] double mean_density(const P& p) noexcept {
  return p.shape().mean_density();
}
/// Tsallis entropy -Omega_order of any order > 0, and Shannon entropy; for k = 2 by quadrature.
template <CappedDensity P>
[[nodiscard]] double tsallis_entropy(const P& p, double order) {
  return p.shape().tsallis_entropy(order);
}
template <CappedDensity P>
[[nodiscard]] double entropy(const P& p) {
  return p.shape().tsallis_entropy(1);
}

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
template <CappedDensity P>
[[nodiscard]] NumericDensity escort(const P& p, double order) {
  return detail::capped_escort(p.shape(), p.mu(), order);
}

/// One draw, by inversion.
template <CappedDensity P, std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const P& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

}  // namespace fenchel
