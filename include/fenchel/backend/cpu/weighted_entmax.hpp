#pragma once

/// `entmax` over weighted nodes (a base measure), with derivatives and losses, over the rows of a batch.

#include <type_traits>

#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/weighted_views.hpp"

/// Entmax with a base measure of weights w_i >= 0 [SCD22, Section 4.2; docs/math.md 2.9], in float and
/// double:
///   P = argmax <P, z> - sum_i w_i omega(P_i / w_i),   P_i = w_i exp_{2-alpha}(z_i - A),
/// probabilities that add up to one; P / w is the density. With w = 1 it is entmax, at alpha = 1 softmax with
/// a prior, w_i e^{z_i} / sum, and with the weights of a quadrature rule it is a density on a line or a
/// plane.
///
/// Weights have the shape of the scores; a stride of 0 shares one row of them. A node of weight 0 is not
/// there: its score is not looked at, its probability and all derivatives at it are 0. Scores, masks and NaN
/// rows are those of entmax. At alpha = infinity no density exceeds one: nodes fill up from the top. Throws
/// as entmax does, and std::domain_error for a weight that is negative or not finite, naming the first.
namespace fenchel::cpu {

template <class Real>
using NodeDirection = NodeDirectionViews<Rows, Real>;
template <class Real>
using NodeGradient = NodeGradientViews<Rows, Real>;
template <class Real>
using WeightedLossOutputs = WeightedLossViews<Rows, Real>;

/// By-products are those of entmax: A, tau and how many probabilities are positive. `p` may be `scores`.
template <class Real>
FENCHEL_EXPORT void weighted_entmax(Input<Real> scores, Input<Real> weights, PerRow alpha, Rows<Real> p,
                                    EntmaxByproducts byproducts);
template <class Real>
void weighted_entmax(Input<Real> scores, Input<Real> weights, PerRow alpha, Rows<Real> p) {
  weighted_entmax<Real>(scores, weights, alpha, p, {});
}

/// The gradient of <cotangent, P>. Derivatives are functions of the probabilities p and of the weights; those
/// past the largest number saturate. Outputs may be one of the inputs other than these.
template <class Real>
FENCHEL_EXPORT void weighted_entmax_vjp(Input<Real> p, Input<Real> weights, PerRow alpha,
                                        Input<Real> cotangent, const NodeGradient<Real>& gradient);

/// How P moves along a direction.
template <class Real>
FENCHEL_EXPORT void weighted_entmax_jvp(Input<Real> p, Input<Real> weights, PerRow alpha,
                                        const std::type_identity_t<NodeDirection<Real>>& direction,
                                        Rows<Real> tangent);

/// The Hessian of <cotangent, P> times a direction. Undefined where a score lies on the edge of the support.
template <class Real>
FENCHEL_EXPORT void weighted_entmax_vjp_vjp(Input<Real> p, Input<Real> weights, PerRow alpha,
                                            Input<Real> cotangent,
                                            const std::type_identity_t<NodeDirection<Real>>& direction,
                                            const NodeGradient<Real>& product);

/// Omega*(z) + Omega(q) - <z, q>, Omega(q) = sum_i w_i phi(q_i / w_i): never negative, exactly 0 where q is
/// P, +inf where q charges a mask or a weight of 0. On a class both losses differ, unless its weight is 1.
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const ClassTargets& targets,
                                         const WeightedLossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const std::type_identity_t<SoftTargets<Real>>& targets,
                                         const WeightedLossOutputs<Real>& outputs);

/// Omega*(z) - <z, q>: for quadrature nodes the loss that has a limit as they are refined.
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const ClassTargets& targets,
                                         const WeightedLossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const std::type_identity_t<SoftTargets<Real>>& targets,
                                         const WeightedLossOutputs<Real>& outputs);

/// The Hessian of each row's loss in scores, weights and alpha times a direction, from the residual P - q
/// that a loss writes. An ignored row gives 0.
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const ClassTargets& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product);
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const std::type_identity_t<SoftTargets<Real>>& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const ClassTargets& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const std::type_identity_t<SoftTargets<Real>>& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product);

}  // namespace fenchel::cpu
