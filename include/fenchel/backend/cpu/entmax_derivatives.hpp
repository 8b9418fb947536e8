#pragma once

/// `entmax_vjp`, `entmax_jvp` and `entmax_vjp_vjp`: derivatives in the scores and in alpha.

#include <span>

#include "fenchel/backend/cpu/entmax.hpp"

/// Derivatives of entmax from its output p alone [SCD22, Section 4.2; docs/math.md 2]. With s = p^{2-alpha}
/// on the support,
///   dp/dz = J = diag(s) - s s^T / sum(s),   dp/dalpha = -J D,   D = d/dalpha log_{2-alpha}(p),
/// so a change of alpha acts like a change of the scores by -D; at alpha = 1, D = (log p)^2 / 2. Off the
/// support all of them are 0, as at infinite alpha; a NaN row stays NaN. What is beyond the largest number
/// saturates there. docs/numerics.md has the bounds of their errors. Outputs may be one of the inputs other
/// than p. Errors as in entmax.hpp.
namespace fenchel::cpu {

/// Vector-Jacobian product: gradient = J cotangent, and alpha_gradient[i] = <cotangent, dp/dalpha> of row i
/// if asked for.
template <class Real>
FENCHEL_EXPORT void entmax_vjp(Input<Real> p, PerRow alpha, Input<Real> cotangent, Rows<Real> gradient,
                               std::span<double> alpha_gradient = {});

/// Jacobian-vector product: tangent = J direction + dp/dalpha alpha_direction[i]; no alpha_direction means
/// that alpha stands still.
template <class Real>
FENCHEL_EXPORT void entmax_jvp(Input<Real> p, PerRow alpha, Input<Real> direction,
                               std::span<const double> alpha_direction, Rows<Real> tangent);

/// The Hessian of <cotangent, p> in scores and alpha times a direction, for second derivatives: the gradient
/// of <direction, gradient> + alpha_direction alpha_gradient, both of entmax_vjp. (In the cotangent that is
/// entmax_jvp.) No alpha_direction means 0. Undefined where a score lies on the edge of the support.
template <class Real>
FENCHEL_EXPORT void entmax_vjp_vjp(Input<Real> p, PerRow alpha, Input<Real> cotangent, Input<Real> direction,
                                   std::span<const double> alpha_direction, Rows<Real> product,
                                   std::span<double> alpha_product = {});

extern template void entmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>);
extern template void entmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>);
extern template void entmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, Rows<float>);
extern template void entmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, Rows<double>);
extern template void entmax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>, std::span<const double>,
                                    Rows<float>, std::span<double>);
extern template void entmax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>,
                                    std::span<const double>, Rows<double>, std::span<double>);

}  // namespace fenchel::cpu
