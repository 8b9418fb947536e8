#pragma once

/// The accessors that the capped and the smooth densities share.

#include <cmath>
#include <concepts>
#include <random>

#include "fenchel/core/error.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/hessian.hpp"
#include "fenchel/distribution/line/generic.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

/// The accessors of a symmetric density on mu +- half_width that is a shape about 0, moved to mu.
namespace fenchel {
namespace detail {

/// Derivatives in the scale, sigma2 or b, and in gamma of what does not depend on mu.
struct ShapeDerivatives {
  double scale, gamma;
  double scale_scale, scale_gamma, gamma_gamma;
};

/// Of T h(T scale, gamma), from those of h at T scale.
[[nodiscard]] inline ShapeDerivatives at_temperature(double t, const ShapeDerivatives& h) noexcept {
  return {t * t * h.scale, t * h.gamma, t * t * t * h.scale_scale, t * t * h.scale_gamma, t * h.gamma_gamma};
}

/// In the order mu, scale, gamma.
[[nodiscard]] inline Hessian<3> hessian(const ShapeDerivatives& h) noexcept {
  return {{{0, 0, 0}, {0, h.scale_scale, h.scale_gamma}, {0, h.scale_gamma, h.gamma_gamma}}};
}

}  // namespace detail

template <class P>
concept ShapedDensity = requires(const P& p) {
  { p.mu() } -> std::same_as<double>;
  { p.half_width() } -> std::same_as<double>;
  { p.shape().density(0.0) } -> std::same_as<double>;
  { p.shape().beyond(0.0) } -> std::same_as<double>;
  { p.shape().quantile(0.0, 0.5) } -> std::same_as<double>;
};

template <ShapedDensity P>
[[nodiscard]] Line domain(const P&) noexcept {
  return {};
}
/// mu +- half_width.
template <ShapedDensity P>
[[nodiscard]] Interval support(const P& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}

/// The density with relative accuracy to the edges of the support; dp/dt, 0 at corners.
template <ShapedDensity P>
[[nodiscard]] double pdf(const P& p, double t) noexcept {
  return p.shape().density(t - p.mu());
}
template <ShapedDensity P>
[[nodiscard]] double log_pdf(const P& p, double t) noexcept {
  return std::log(pdf(p, t));
}
template <ShapedDensity P>
[[nodiscard]] double pdf_derivative(const P& p, double t) noexcept {
  return p.shape().derivative(t - p.mu());
}

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy.
template <ShapedDensity P>
[[nodiscard]] double cdf(const P& p, double t) noexcept {
  return p.shape().beyond(p.mu() - t);
}
template <ShapedDensity P>
[[nodiscard]] double survival(const P& p, double t) noexcept {
  return p.shape().beyond(t - p.mu());
}
template <ShapedDensity P>
[[nodiscard]] double log_cdf(const P& p, double t) noexcept {
  return p.shape().log_beyond(p.mu() - t);
}
template <ShapedDensity P>
[[nodiscard]] double log_survival(const P& p, double t) noexcept {
  return p.shape().log_beyond(t - p.mu());
}

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
template <ShapedDensity P>
[[nodiscard]] double quantile(const P& p, double u) {
  return p.shape().quantile(p.mu(), u);
}
template <ShapedDensity P>
[[nodiscard]] double survival_quantile(const P& p, double u) {
  return p.shape().survival_quantile(p.mu(), u);
}

template <ShapedDensity P>
[[nodiscard]] double mode(const P& p) noexcept {
  return p.mu();
}
template <ShapedDensity P>
[[nodiscard]] double mean(const P& p) noexcept {
  return p.mu();
}
/// E|t - mu|^n in closed form. Throws std::domain_error for n < 0.
template <ShapedDensity P>
[[nodiscard]] double absolute_moment(const P& p, int n) {
  return p.shape().absolute_moment(n);
}
/// E|X - t|.
template <ShapedDensity P>
[[nodiscard]] double mean_deviation(const P& p, double t) noexcept {
  return p.shape().mean_deviation(t - p.mu());
}
template <ShapedDensity P>
[[nodiscard]] double variance(const P& p) noexcept {
  return p.shape().unit_moment(2) * p.half_width() * p.half_width();
}
/// Right where the variance overflows.
template <HasVariance P>
requires ShapedDensity<P>
[[nodiscard]] double standard_deviation(const P& p) noexcept {
  const double v = variance(p);
  return std::isnormal(v) ? std::sqrt(v) : std::sqrt(p.shape().unit_moment(2)) * p.half_width();
}
template <ShapedDensity P>
[[nodiscard]] double skewness(const P&) noexcept {
  return 0;
}
/// E(t - mu)^4 / variance^2.
template <ShapedDensity P>
[[nodiscard]] double kurtosis(const P& p) noexcept {
  const double second = p.shape().unit_moment(2);
  return p.shape().unit_moment(4) / (second * second);
}
/// E(t - mu)^n, odd ones 0. Throws std::domain_error for n < 0.
template <ShapedDensity P>
[[nodiscard]] double central_moment(const P& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n % 2 == 1 ? 0 : p.shape().absolute_moment(n);
}

/// int p^2.
template <ShapedDensity P>
[[nodiscard]] double mean_density(const P& p) noexcept {
  return p.shape().mean_density();
}
/// Tsallis entropy -Omega_order of any order > 0, and Shannon entropy; by quadrature but for straight sides.
template <ShapedDensity P>
[[nodiscard]] double tsallis_entropy(const P& p, double order) {
  return p.shape().tsallis_entropy(order);
}
template <ShapedDensity P>
[[nodiscard]] double entropy(const P& p) {
  return p.shape().tsallis_entropy(1);
}

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
template <ShapedDensity P>
[[nodiscard]] NumericDensity escort(const P& p, double order) {
  return p.shape().escort(p.mu(), order);
}

/// One draw, by inversion.
template <ShapedDensity P, std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const P& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

}  // namespace fenchel
