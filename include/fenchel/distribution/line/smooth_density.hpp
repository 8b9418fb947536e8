#pragma once

/// The formulas that `SmoothParabola` and `SmoothTriangular` share.

#include <span>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/line/numeric_density.hpp"
#include "fenchel/distribution/line/shaped_density.hpp"

/// What SmoothParabola and SmoothTriangular share: the prediction of Sobolev(gamma) for a score that falls
/// from mu on the line is p of p - gamma p'' = f - tau on mu +- half_width, with p = p' = 0 at both ends
/// [SCD22, Section 7; docs/math.md 6.2].
namespace fenchel::detail {

/// In units of the half width, at the distance d from the edge, p is F_0(d) / (2 half_width mass), where F
/// solves z^2 F'' = F - d + bend d^2/2 + z slope, F(0) = F'(0) = 0 (docs/math.md 6.2 seen from the edge,
/// derived).
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
  /// The b at which E|y| is as given.
  [[nodiscard]] static double b_of_mean_deviation(std::string_view where, double gamma, double deviation);

  [[nodiscard]] double gamma() const noexcept { return gamma_; }
  [[nodiscard]] double scale() const noexcept { return scale_; }
  /// tau of p - gamma p'' = f - tau.
  [[nodiscard]] double threshold() const noexcept;
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
  /// The y >= 0 with P(Y > y) = u, 0 < u < 1/2.
  [[nodiscard]] double tail_distance(double u) const;
  /// Of the density about mu.
  [[nodiscard]] double quantile(double mu, double u) const;
  [[nodiscard]] double survival_quantile(double mu, double u) const;
  [[nodiscard]] NumericDensity escort(double mu, double order) const;
  [[nodiscard]] double absolute_moment(int n) const;
  [[nodiscard]] double mean_deviation(double y) const noexcept;
  [[nodiscard]] double mean_density() const noexcept;
  [[nodiscard]] double roughness() const noexcept;
  [[nodiscard]] double tsallis_entropy(double order) const;

  /// d / dgamma of density and beyond, off the edges and, at gamma = 0, off the centre; 0 off the support.
  [[nodiscard]] double gamma_derivative(double y) const noexcept;
  [[nodiscard]] double beyond_gamma_derivative(double y) const noexcept;
  /// d half_width / d log scale, and in gamma, which is infinite at gamma = 0.
  [[nodiscard]] double half_width_scale_derivative() const noexcept;
  [[nodiscard]] double half_width_gamma_derivative() const noexcept;

  struct Gradient {
    double mu, scale, gamma;
  };
  [[nodiscard]] Gradient expectation_gradient(FunctionRef<double(double)> psi, double mu, double accuracy,
                                              std::span<const double> cuts) const;

  /// Of tau, and of Omega* at temperature 1. At gamma = 0 second derivatives in gamma are infinite, but that
  /// of tau for bend 0.
  [[nodiscard]] ShapeDerivatives threshold_derivatives() const noexcept;
  [[nodiscard]] ShapeDerivatives conjugate_derivatives() const noexcept;

 private:
  double gamma_, scale_, half_width_;
  SmoothForm form_;
};

}  // namespace fenchel::detail
