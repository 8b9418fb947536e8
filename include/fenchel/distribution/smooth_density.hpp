#pragma once

#include <cmath>
#include <concepts>
#include <random>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/variates.hpp"
#include "fenchel/distribution/generic.hpp"
#include "fenchel/distribution/numeric_density.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/domain/line.hpp"

/// What SmoothParabola and SmoothTriangular share: the prediction of Sobolev(gamma) for a score that falls
/// from mu on the line is p of p - gamma p'' = f - tau on mu +- half_width, with p = p' = 0 at both ends
/// [SCD22, Section 7; MATH.md 6.2].
namespace fenchel {
namespace detail {

/// In units of the half width, at the distance d from the edge, p is F_0(d) / (2 half_width mass), where F
/// solves z^2 F'' = F - d + bend d^2/2 + z slope, F(0) = F'(0) = 0 (MATH.md 6.2 seen from the edge, derived).
struct SmoothForm {
  double bend;     ///< 1 for a quadratic score, 0 for an absolute one
  double inverse;  ///< z = sqrt(gamma) / half_width = 1 / x
  double slope;    ///< coth x - z, or tanh(x / 2): z F''(0)
  double level;    ///< coth x, or tanh(x / 2)
  double echo;     ///< the factor of z exp(-(1 - d) / z) in F_0
  double mass;     ///< int_0^1 F_0
};

/// Such a density about 0.
class FENCHEL_EXPORT SmoothShape {
 public:
  /// Throws std::domain_error, `where` and the scale being named, unless gamma is finite and not negative and
  /// the scale, sigma2 (bend 1) or b (bend 0), positive and finite.
  SmoothShape(std::string_view where, double bend, double gamma, std::string_view name, double scale);
  /// The scale at which the variance is as given.
  [[nodiscard]] static double scale_of_variance(std::string_view where, double bend, double gamma,
                                                double variance);

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  /// That with mass one, to a few units in the last place.
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  [[nodiscard]] const SmoothForm& form() const noexcept { return form_; }

  /// 1 - |y| / half_width, at least 0.
  [[nodiscard]] double depth(double y) const noexcept;
  /// E|y / half_width|^n.
  [[nodiscard]] double unit_moment(int n) const noexcept;

  [[nodiscard]] double density(double y) const noexcept;
  [[nodiscard]] double derivative(double y) const noexcept;
  /// P(Y > y), and its logarithm.
  [[nodiscard]] double beyond(double y) const noexcept;
  [[nodiscard]] double log_beyond(double y) const noexcept;
  /// The y >= 0 with P(Y > y) = u <= 1/2.
  [[nodiscard]] double tail_distance(double u) const;
  [[nodiscard]] double absolute_moment(int n) const;
  [[nodiscard]] double mean_deviation(double y) const noexcept;
  [[nodiscard]] double mean_density() const noexcept;
  [[nodiscard]] double roughness() const noexcept;
  [[nodiscard]] double tsallis_entropy(double order) const;

  struct Gradient {
    double mu, scale, gamma;
  };
  [[nodiscard]] Gradient expectation_gradient(FunctionRef<double(double)> psi, double mu,
                                              double accuracy) const;

 private:
  double gamma_, scale_, half_width_;
  SmoothForm form_;
};

[[nodiscard]] FENCHEL_EXPORT double smooth_quantile(const SmoothShape& shape, double mu, double u);
[[nodiscard]] FENCHEL_EXPORT double smooth_survival_quantile(const SmoothShape& shape, double mu, double u);
[[nodiscard]] FENCHEL_EXPORT NumericDensity smooth_escort(const SmoothShape& shape, double mu, double order);

}  // namespace detail

template <class P>
concept SmoothDensity = requires(const P& p) {
  { p.shape() } -> std::same_as<const detail::SmoothShape&>;
  { p.mu() } -> std::same_as<double>;
};

template <SmoothDensity P>
[[nodiscard]] Line domain(const P&) noexcept {
  return {};
}
/// mu +- half_width.
template <SmoothDensity P>
[[nodiscard]] Interval support(const P& p) noexcept {
  return {p.mu() - p.half_width(), p.mu() + p.half_width()};
}

/// The density with relative accuracy to the edges, where it falls like the square of the distance; dp/dt.
template <SmoothDensity P>
[[nodiscard]] double pdf(const P& p, double t) noexcept {
  return p.shape().density(t - p.mu());
}
template <SmoothDensity P>
[[nodiscard]] double log_pdf(const P& p, double t) noexcept {
  return std::log(pdf(p, t));
}
template <SmoothDensity P>
[[nodiscard]] double pdf_derivative(const P& p, double t) noexcept {
  return p.shape().derivative(t - p.mu());
}

/// P(X <= t), P(X > t) and their logarithms, each with its own relative accuracy, to the edges of the support
/// and for every gamma.
template <SmoothDensity P>
[[nodiscard]] double cdf(const P& p, double t) noexcept {
  return p.shape().beyond(p.mu() - t);
}
template <SmoothDensity P>
[[nodiscard]] double survival(const P& p, double t) noexcept {
  return p.shape().beyond(t - p.mu());
}
template <SmoothDensity P>
[[nodiscard]] double log_cdf(const P& p, double t) noexcept {
  return p.shape().log_beyond(p.mu() - t);
}
template <SmoothDensity P>
[[nodiscard]] double log_survival(const P& p, double t) noexcept {
  return p.shape().log_beyond(t - p.mu());
}

/// The t with cdf u, or with survival u. Throw std::domain_error unless u is in [0, 1].
template <SmoothDensity P>
[[nodiscard]] double quantile(const P& p, double u) {
  return detail::smooth_quantile(p.shape(), p.mu(), u);
}
template <SmoothDensity P>
[[nodiscard]] double survival_quantile(const P& p, double u) {
  return detail::smooth_survival_quantile(p.shape(), p.mu(), u);
}

template <SmoothDensity P>
[[nodiscard]] double mode(const P& p) noexcept {
  return p.mu();
}
template <SmoothDensity P>
[[nodiscard]] double mean(const P& p) noexcept {
  return p.mu();
}
/// E|t - mu|^n in closed form. Throws std::domain_error for n < 0.
template <SmoothDensity P>
[[nodiscard]] double absolute_moment(const P& p, int n) {
  return p.shape().absolute_moment(n);
}
/// E|X - t|.
template <SmoothDensity P>
[[nodiscard]] double mean_deviation(const P& p, double t) noexcept {
  return p.shape().mean_deviation(t - p.mu());
}
template <SmoothDensity P>
[[nodiscard]] double variance(const P& p) noexcept {
  return p.shape().unit_moment(2) * p.half_width() * p.half_width();
}
template <SmoothDensity P>
[[nodiscard]] double skewness(const P&) noexcept {
  return 0;
}
/// E(t - mu)^4 / variance^2.
template <SmoothDensity P>
[[nodiscard]] double kurtosis(const P& p) noexcept {
  const double second = p.shape().unit_moment(2);
  return p.shape().unit_moment(4) / (second * second);
}
/// E(t - mu)^n, odd ones 0. Throws std::domain_error for n < 0.
template <SmoothDensity P>
[[nodiscard]] double central_moment(const P& p, int n) {
  if (n < 0) throw_domain_error("central_moment", "n", "must not be negative", n);
  return n % 2 == 1 ? 0 : p.shape().absolute_moment(n);
}

/// int p^2.
template <SmoothDensity P>
[[nodiscard]] double mean_density(const P& p) noexcept {
  return p.shape().mean_density();
}
/// Tsallis entropy -Omega_order of any order > 0, and Shannon entropy, by quadrature.
template <SmoothDensity P>
[[nodiscard]] double tsallis_entropy(const P& p, double order) {
  return p.shape().tsallis_entropy(order);
}
template <SmoothDensity P>
[[nodiscard]] double entropy(const P& p) {
  return p.shape().tsallis_entropy(1);
}

/// p^order / int p^order. Throws as the escort of a NumericDensity does.
template <SmoothDensity P>
[[nodiscard]] NumericDensity escort(const P& p, double order) {
  return detail::smooth_escort(p.shape(), p.mu(), order);
}

/// One draw, by inversion.
template <SmoothDensity P, std::uniform_random_bit_generator Generator>
[[nodiscard]] double sample(const P& p, Generator& rng) {
  return quantile(p, uniform01(rng));
}

}  // namespace fenchel
