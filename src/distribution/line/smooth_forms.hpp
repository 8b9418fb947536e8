#pragma once

#include "fenchel/distribution/line/smooth_density.hpp"

/// The numerics of the forms that smooth densities are made of.
namespace fenchel::detail {

/// coth x - 1/x, from its continued fraction where that cancels.
[[nodiscard]] double langevin(double x) noexcept;

/// The form for z = sqrt(gamma) / half_width, which may be 0.
[[nodiscard]] SmoothForm smooth_form(double bend, double inverse);

/// n! / d^n times the n-fold integral of F_0 from 0 to d, in [0, 1]; the relative error is below 1e-14.
[[nodiscard]] double edge_form(const SmoothForm& form, int n, double d) noexcept;
/// F_0'(d).
[[nodiscard]] double edge_slope(const SmoothForm& form, double d) noexcept;
/// int_0^1 (1 - d)^n F_0 / mass.
[[nodiscard]] double relative_moment(const SmoothForm& form, int n) noexcept;
/// int_0^1 F_0^2 and int_0^1 F_0'^2, over mass^2.
[[nodiscard]] double square_of_form(const SmoothForm& form) noexcept;
[[nodiscard]] double square_of_slope(const SmoothForm& form) noexcept;

}  // namespace fenchel::detail
