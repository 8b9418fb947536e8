#pragma once

/// `entmax_vjp`, `entmax_jvp` and `entmax_vjp_vjp`: derivatives in the scores and in alpha.

#include <span>

#include "fenchel/backend/cpu/entmax.hpp"

/// Derivatives of entmax from its output p alone [SCD22, Section 4.2; docs/math.md 2]. With s = p^{2-alpha}
/// on the support,
///   dp/dz = J = diag(s) - s s^T / sum(s),   dp/dalpha = -J D,   D = d/dalpha log_{2-alpha}(p),
/// so a change of alpha acts like a change of the scores by -D; at alpha = 1, D = (log p)^2 / 2. Off the
/// support all of them are 0, as at infinite alpha; a NaN row stays NaN. Outputs may be one of the inputs
/// other than p. Errors as in entmax.hpp.
namespace fenchel::cpu {

/// Vector-Jacobian product: grad_scores = J grad_p, and grad_alpha[i] = <grad_p, dp/dalpha> of row i if asked
/// for.
template <class Real>
FENCHEL_EXPORT void entmax_vjp(Input<Real> p, PerRow alpha, Input<Real> grad_p, Rows<Real> grad_scores,
                               std::span<double> grad_alpha = {});

/// Jacobian-vector product: d_p = J d_scores + dp/dalpha d_alpha[i]; no d_alpha means that alpha stands
/// still.
template <class Real>
FENCHEL_EXPORT void entmax_jvp(Input<Real> p, PerRow alpha, Input<Real> d_scores, Rows<Real> d_p,
                               std::span<const double> d_alpha = {});

/// The vector-Jacobian product of entmax_vjp, for second derivatives: the gradient of
///   <weight_scores, grad_scores> + weight_alpha grad_alpha
/// with respect to the scores and alpha behind p. (With respect to grad_p it is entmax_jvp of the weights.)
/// No weight_alpha means 0. Undefined where a score lies on the edge of the support.
template <class Real>
FENCHEL_EXPORT void entmax_vjp_vjp(Input<Real> p, PerRow alpha, Input<Real> grad_p, Input<Real> weight_scores,
                                   std::span<const double> weight_alpha, Rows<Real> grad_scores,
                                   std::span<double> grad_alpha = {});

extern template void entmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>);
extern template void entmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>);
extern template void entmax_jvp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<const double>);
extern template void entmax_jvp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<const double>);
extern template void entmax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>, std::span<const double>,
                                    Rows<float>, std::span<double>);
extern template void entmax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>,
                                    std::span<const double>, Rows<double>, std::span<double>);

}  // namespace fenchel::cpu
