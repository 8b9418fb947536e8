#pragma once

/// `smooth_sparsemax` over the rows of a batch, its derivatives and its loss.

#include <span>

#include "fenchel/backend/cpu/chain.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"

/// Smooth sparsemax, the map of the Sobolev regularizer on a chain, over the rows of a batch [SCD22, Section
/// 7; docs/math.md 6.2]:
///   p = argmax <p, z> - |p|^2 / 2 - (gamma / 2) sum_k w_k (p_{k+1} - p_k)^2  over the simplex,
/// sparsemax at gamma = 0. On the support, found exactly, (1 + gamma L) p = z - tau, L the weighted
/// Laplacian.
///
/// -inf is a mask: its probability is exactly 0, and differences from it are penalised. A row with a NaN, a
/// +inf or no finite score becomes NaN, and the others are not affected. A batch without rows is allowed.
/// Throws std::invalid_argument for shapes that do not fit, no columns, a null view or a length not in [1,
/// cols], std::domain_error unless gamma is finite and not negative and weights are positive and finite.
namespace fenchel::cpu {

/// The map, and tau of each row if asked for. `p` may be `scores` itself. |sum - 1| is at most
/// row_sum_error, also for gamma = 1e8 with weights of 1e3.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax(Input<Real> scores, PerRow gamma, Rows<Real> p, const Chain& chain = {},
                                     double* threshold = nullptr);

/// Jacobian-vector product from the output p alone: with G the inverse of 1 + gamma L on the support,
///   tangent = J d,  J = G - G 1 1'G / 1'G 1,  d = direction - gamma_direction[i] L p,
/// and 0 off it; a NaN row stays NaN. No gamma_direction means that gamma stands still. The tangent may be
/// the direction.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_jvp(Input<Real> p, PerRow gamma, Input<Real> direction,
                                         std::span<const double> gamma_direction, Rows<Real> tangent,
                                         const Chain& chain = {});

/// Vector-Jacobian product: gradient = J cotangent, and gamma_gradient[i] = -<gradient, L p> of row i if
/// asked for. The gradient may be the cotangent.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent,
                                         Rows<Real> gradient, std::span<double> gamma_gradient = {},
                                         const Chain& chain = {});

/// For second derivatives: the gradient in scores and gamma of <weight, g> + gamma_weight[i] g_gamma[i],
/// where g = J cotangent and g_gamma are the results of smooth_sparsemax_vjp. With t the tangent along the
/// weights,
///   product = -gamma_weight[i] J L g,  gamma_product[i] = -<g, L t> - <product, L p>.
/// No gamma_weight means 0; gamma_product is computed if asked for. The product may be one of the inputs
/// other than p.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_vjp_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent,
                                             Input<Real> weight, std::span<const double> gamma_weight,
                                             Rows<Real> product, std::span<double> gamma_product = {},
                                             const Chain& chain = {});

/// The Fenchel-Young loss, with its gradients p - q and (1/2) sum_k w_k ((q_{k+1} - q_k)^2 - (p_{k+1} -
/// p_k)^2). It is the sum of |q - p|^2 / 2, of the same (gamma / 2) sum_k for q - p, and of q times the slack
/// off the support: never negative, exactly 0 at q = p, +inf where q charges a masked score or padding.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_loss(Input<Real> scores, PerRow gamma, const ClassTargets& targets,
                                          const LossOutputs<Real>& outputs, const Chain& chain = {});
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_loss(Input<Real> scores, PerRow gamma,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossOutputs<Real>& outputs, const Chain& chain = {});

/// The Hessian of the loss in scores and gamma times a direction, which is the same for all targets:
///   product = the tangent of smooth_sparsemax_jvp,  gamma_product[i] = -<L p, product> if asked for.
template <class Real>
FENCHEL_EXPORT void smooth_sparsemax_loss_curvature(Input<Real> p, PerRow gamma, Input<Real> direction,
                                                    std::span<const double> gamma_direction,
                                                    Rows<Real> product, std::span<double> gamma_product = {},
                                                    const Chain& chain = {});

extern template void smooth_sparsemax(Input<float>, PerRow, Rows<float>, const Chain&, double*);
extern template void smooth_sparsemax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>,
                                          Rows<float>, const Chain&);
extern template void smooth_sparsemax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>,
                                          const Chain&);
extern template void smooth_sparsemax_vjp_vjp(Input<float>, PerRow, Input<float>, Input<float>,
                                              std::span<const double>, Rows<float>, std::span<double>,
                                              const Chain&);
extern template void smooth_sparsemax_loss_curvature(Input<float>, PerRow, Input<float>,
                                                     std::span<const double>, Rows<float>, std::span<double>,
                                                     const Chain&);
extern template void smooth_sparsemax_loss(Input<float>, PerRow, const ClassTargets&,
                                           const LossOutputs<float>&, const Chain&);
extern template void smooth_sparsemax_loss(Input<float>, PerRow, const SoftTargets<float>&,
                                           const LossOutputs<float>&, const Chain&);
extern template void smooth_sparsemax(Input<double>, PerRow, Rows<double>, const Chain&, double*);
extern template void smooth_sparsemax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>,
                                          Rows<double>, const Chain&);
extern template void smooth_sparsemax_vjp(Input<double>, PerRow, Input<double>, Rows<double>,
                                          std::span<double>, const Chain&);
extern template void smooth_sparsemax_vjp_vjp(Input<double>, PerRow, Input<double>, Input<double>,
                                              std::span<const double>, Rows<double>, std::span<double>,
                                              const Chain&);
extern template void smooth_sparsemax_loss_curvature(Input<double>, PerRow, Input<double>,
                                                     std::span<const double>, Rows<double>, std::span<double>,
                                                     const Chain&);
extern template void smooth_sparsemax_loss(Input<double>, PerRow, const ClassTargets&,
                                           const LossOutputs<double>&, const Chain&);
extern template void smooth_sparsemax_loss(Input<double>, PerRow, const SoftTargets<double>&,
                                           const LossOutputs<double>&, const Chain&);

}  // namespace fenchel::cpu
