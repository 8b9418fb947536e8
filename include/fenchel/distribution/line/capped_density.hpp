#pragma once

/// The formulas that `CappedTriangular` and `CappedParabola` share.

#include <concepts>
#include <span>
#include <string_view>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"

/// What CappedTriangular (k = 1) and CappedParabola (k = 2) share: the prediction of TotalVariation(gamma)
/// for f(t) = -|t - mu|^k / (k s) on the line is p = min(f, f(mu + a)) - tau on mu +- b, a plateau on mu +- a
/// between slopes, a^{k+1} = (k + 1) s gamma, b^{k+1} = (k + 1) s (1/2 + gamma), tau = f(mu + b) [SCD22,
/// Section 7; docs/math.md 6.1].
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
  /// The s of degree 1 at which E|y| is as given.
  [[nodiscard]] static double b_of_mean_deviation(std::string_view where, double gamma, double deviation);

  [[nodiscard]] int degree() const noexcept { return degree_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double half_width() const noexcept { return half_width_; }
  [[nodiscard]] double plateau() const noexcept { return plateau_; }
  /// 1 - a / b.
  [[nodiscard]] double slope_share() const noexcept { return slope_share_; }
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
  /// Of the density about mu.
  [[nodiscard]] double quantile(double mu, double u) const;
  [[nodiscard]] double survival_quantile(double mu, double u) const;
  [[nodiscard]] NumericDensity escort(double mu, double order) const;
  [[nodiscard]] double absolute_moment(int n) const;
  [[nodiscard]] double mean_deviation(double y) const noexcept;
  [[nodiscard]] double mean_density() const noexcept;
  [[nodiscard]] double tsallis_entropy(double order) const;

  [[nodiscard]] double expectation(FunctionRef<double(double)> f, double mu, double accuracy,
                                   std::span<const double> cuts) const;
  struct Gradient {
    double mu, scale, gamma;
  };
  [[nodiscard]] Gradient expectation_gradient(FunctionRef<double(double)> psi, double mu, double accuracy,
                                              std::span<const double> cuts) const;

  /// Of tau, and of Omega* at temperature 1, whose second derivative in gamma is infinite at gamma = 0.
  [[nodiscard]] ShapeDerivatives threshold_derivatives() const noexcept;
  [[nodiscard]] ShapeDerivatives conjugate_derivatives() const noexcept;

 private:
  [[nodiscard]] double near_tail(double y) const noexcept;
  [[nodiscard]] ShapeDerivatives homogeneous(double in_scale, double in_gamma,
                                             double gamma_gamma) const noexcept;

  int degree_;
  double scale_, gamma_, total_, half_width_, plateau_, slope_share_;
  double plateau_share_;  ///< a / b
};

}  // namespace detail

template <class P>
concept CappedDensity = ShapedDensity<P> && requires(const P& p) {
  { p.shape() } -> std::same_as<const detail::CappedShape&>;
};

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

}  // namespace fenchel
