#pragma once

/// Fenchel-Young and cross-Omega losses over the rows of a batch, with gradients and Hessian products.

#include <span>
#include <type_traits>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/loss_views.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// Fenchel-Young and cross-Omega losses of Omega_alpha over the rows of a batch [SCD22, Section 4.2;
/// docs/math.md 2]:
///   entmax_loss = Omega*(z) + Omega(q) - <z, q>,   cross_omega = Omega*(z) - <z, q>,
/// the cross-entropy and KL at alpha = 1. Their gradient with respect to the scores z is p - q, p =
/// entmax(z), and their Hessian is p's Jacobian. A class is the target that puts everything on one column:
/// both losses agree on it.
///
/// entmax_loss is a sum of terms that are never negative: exactly 0 where q is p. A masked score (-inf)
/// under a positive target gives +inf; a row without prediction (NaN, +inf, all masked) gives NaN in that
/// row.
namespace fenchel::cpu {

using fenchel::ClassTargets, fenchel::kTargetSumTolerance;
template <class Real>
using SoftTargets = SoftTargetViews<Rows, Real>;
template <class Real>
using LossOutputs = LossOutputViews<Rows, Real>;
template <class Real>
using LossCurvature = LossCurvatureViews<Rows, Real>;

/// Throws as entmax does, and std::domain_error for a class or a soft target out of range, naming the first.
template <class Real>
FENCHEL_EXPORT void entmax_loss(Input<Real> scores, PerRow alpha, const ClassTargets& targets,
                                const LossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void entmax_loss(Input<Real> scores, PerRow alpha,
                                const std::type_identity_t<SoftTargets<Real>>& targets,
                                const LossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void cross_omega(Input<Real> scores, PerRow alpha,
                                const std::type_identity_t<SoftTargets<Real>>& targets,
                                const LossOutputs<Real>& outputs);

/// The gradient of sum_i cotangent[i] loss_i in the scores, for both losses: row i of gradient is
/// cotangent[i] (p - q), and 0 for an ignored row. It may be the scores.
template <class Real>
FENCHEL_EXPORT void entmax_loss_vjp(Input<Real> scores, PerRow alpha, const ClassTargets& targets,
                                    std::span<const std::type_identity_t<Real>> cotangent,
                                    Rows<Real> gradient);
template <class Real>
FENCHEL_EXPORT void entmax_loss_vjp(Input<Real> scores, PerRow alpha,
                                    const std::type_identity_t<SoftTargets<Real>>& targets,
                                    std::span<const std::type_identity_t<Real>> cotangent,
                                    Rows<Real> gradient);

/// product[i] = H_i direction[i], H_i the Hessian of row i's loss with respect to its scores (for any
/// target).
template <class Real>
FENCHEL_EXPORT void entmax_loss_hessian_product(Input<Real> scores, PerRow alpha, Input<Real> direction,
                                                Rows<Real> product);

/// From the residual p - q that a loss writes: a p that is far below q is as exact as that. An ignored row
/// gives 0. Undefined where a score lies on the edge of the support.
template <class Real>
FENCHEL_EXPORT void entmax_loss_curvature(Input<Real> residual, PerRow alpha, const ClassTargets& targets,
                                          const LossCurvature<Real>& curvature);
template <class Real>
FENCHEL_EXPORT void entmax_loss_curvature(Input<Real> residual, PerRow alpha,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossCurvature<Real>& curvature);
template <class Real>
FENCHEL_EXPORT void cross_omega_curvature(Input<Real> residual, PerRow alpha,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossCurvature<Real>& curvature);

extern template void entmax_loss(Input<float>, PerRow, const ClassTargets&, const LossOutputs<float>&);
extern template void entmax_loss(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&);
extern template void cross_omega(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&);
extern template void entmax_loss_vjp(Input<float>, PerRow, const ClassTargets&, std::span<const float>,
                                     Rows<float>);
extern template void entmax_loss_vjp(Input<float>, PerRow, const SoftTargets<float>&, std::span<const float>,
                                     Rows<float>);
extern template void entmax_loss_hessian_product(Input<float>, PerRow, Input<float>, Rows<float>);
extern template void entmax_loss_curvature(Input<float>, PerRow, const ClassTargets&,
                                           const LossCurvature<float>&);
extern template void entmax_loss_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                           const LossCurvature<float>&);
extern template void cross_omega_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                           const LossCurvature<float>&);
extern template void entmax_loss(Input<double>, PerRow, const ClassTargets&, const LossOutputs<double>&);
extern template void entmax_loss(Input<double>, PerRow, const SoftTargets<double>&,
                                 const LossOutputs<double>&);
extern template void cross_omega(Input<double>, PerRow, const SoftTargets<double>&,
                                 const LossOutputs<double>&);
extern template void entmax_loss_vjp(Input<double>, PerRow, const ClassTargets&, std::span<const double>,
                                     Rows<double>);
extern template void entmax_loss_vjp(Input<double>, PerRow, const SoftTargets<double>&,
                                     std::span<const double>, Rows<double>);
extern template void entmax_loss_hessian_product(Input<double>, PerRow, Input<double>, Rows<double>);
extern template void entmax_loss_curvature(Input<double>, PerRow, const ClassTargets&,
                                           const LossCurvature<double>&);
extern template void entmax_loss_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                           const LossCurvature<double>&);
extern template void cross_omega_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                           const LossCurvature<double>&);

}  // namespace fenchel::cpu
