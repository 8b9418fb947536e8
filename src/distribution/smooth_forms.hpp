#pragma once

#include "fenchel/core/function_ref.hpp"
#include "fenchel/distribution/smooth_shape.hpp"

/// The numerics that SmoothParabola and SmoothTriangular share. y is |t - mu|.
namespace fenchel::detail {

/// A density of this shape on [-half_width, half_width].
struct SmoothDensity {
  const SmoothShape& shape;
  double half_width;
};

/// coth x - 1/x, from its continued fraction where that cancels.
[[nodiscard]] double langevin(double x) noexcept;

/// The shape for z = sqrt(gamma) / half_width, which may be 0.
[[nodiscard]] SmoothShape smooth_shape(double bend, double inverse);

/// The half width with mass one, for sigma2 (bend 1) or b (bend 0), to a few units in the last place.
[[nodiscard]] double smooth_half_width(double bend, double gamma, double scale);
/// The sigma2 or b of the member with this variance.
[[nodiscard]] double smooth_scale_of_variance(double bend, double gamma, double variance);

/// n! / d^n times the n-fold integral of F_0 from 0 to d, in [0, 1]; the relative error is below 1e-14.
[[nodiscard]] double edge_form(const SmoothShape& shape, int n, double d) noexcept;
/// F_0'(d).
[[nodiscard]] double edge_slope(const SmoothShape& shape, double d) noexcept;

[[nodiscard]] double smooth_pdf(const SmoothDensity& p, double y) noexcept;
/// -dp/dy.
[[nodiscard]] double smooth_fall(const SmoothDensity& p, double y) noexcept;
/// P(X > mu + x), and its logarithm, for any x.
[[nodiscard]] double smooth_survival(const SmoothDensity& p, double x) noexcept;
[[nodiscard]] double smooth_log_survival(const SmoothDensity& p, double x) noexcept;
/// The x >= 0 with P(X > mu + x) = u <= 1/2.
[[nodiscard]] double smooth_tail_distance(const SmoothDensity& p, double u);
/// E|X - mu - x|.
[[nodiscard]] double smooth_mean_deviation(const SmoothDensity& p, double x) noexcept;
/// E(y / half_width)^n.
[[nodiscard]] double relative_moment(const SmoothShape& shape, int n) noexcept;
[[nodiscard]] double smooth_central_moment(const SmoothDensity& p, int n);
[[nodiscard]] double smooth_kurtosis(const SmoothShape& shape) noexcept;
/// int p^2 and int p'^2.
[[nodiscard]] double smooth_mean_density(const SmoothDensity& p) noexcept;
[[nodiscard]] double smooth_roughness(const SmoothDensity& p) noexcept;

/// Derivatives of E[psi] in mu, in the logarithm of sigma2 or b, and in gamma.
struct SmoothGradient {
  double mu, log_scale, gamma;
};
[[nodiscard]] SmoothGradient smooth_expectation_gradient(const SmoothDensity& p, double mu,
                                                         FunctionRef<double(double)> psi);

}  // namespace fenchel::detail
