#pragma once

/// `fusedmax` over the rows of a batch, its derivatives and its loss.

#include <span>

#include "fenchel/backend/cpu/chain.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/core/config.hpp"

/// fusedmax over the rows of a batch, in float and double [V. Niculae, M. Blondel, NeurIPS 2017; SCD22,
/// Section 7; docs/math.md 6.1]:
///   p = argmax_p <p, z> - |p|^2 / 2 - gamma sum_k w_k |p_{k+1} - p_k| = sparsemax(prox(z)),
/// prox that of total variation. gamma = 0 is sparsemax, a large gamma the uniform distribution.
///
/// -inf is a mask: the column stays with probability 0, and differences from it are penalised. A row with a
/// NaN, a +inf or no finite score becomes NaN. Outputs may be the scores themselves. Throws
/// std::invalid_argument for shapes that do not fit and lengths out of [1, cols], std::domain_error for a
/// gamma that is negative or not finite and a weight that is not positive and finite.
namespace fenchel::cpu {

/// |p - exact| <= kFusedmaxError (1 + spread + gammas) in double, where spread is max - min of the scores
/// that are not masked, less than 1 / kFusedmaxError, and gammas the largest gamma w_k. In float one more
/// rounding.
inline constexpr double kFusedmaxError = 1e-13;

/// The map. threshold[i], where asked for, is tau of p = [prox(z) - tau]_+. Columns of one plateau get the
/// same number.
template <class Real>
FENCHEL_EXPORT void fusedmax(Input<Real> scores, PerRow gamma, Rows<Real> p, const Chain& chain,
                             double* threshold = nullptr);
template <class Real>
void fusedmax(Input<Real> scores, PerRow gamma, Rows<Real> p) {
  fusedmax<Real>(scores, gamma, p, Chain{});
}

/// Derivatives from the output p alone: a plateau is a run of equal positive p (of one column where gamma is
/// 0). A change of the scores is averaged over each plateau, then loses its mean over the support: this
/// Jacobian J is symmetric. gamma moves a plateau by the weights of its edges to higher neighbours less those
/// to lower ones, over its length. Outputs may be one of the inputs other than p; a NaN row stays NaN.
///
/// gradient = J cotangent, and gamma_gradient[i] = <cotangent, dp/dgamma> of row i if asked for.
template <class Real>
FENCHEL_EXPORT void fusedmax_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent, Rows<Real> gradient,
                                 std::span<double> gamma_gradient, const Chain& chain);
template <class Real>
void fusedmax_vjp(Input<Real> p, PerRow gamma, Input<Real> cotangent, Rows<Real> gradient,
                  std::span<double> gamma_gradient = {}) {
  fusedmax_vjp<Real>(p, gamma, cotangent, gradient, gamma_gradient, {});
}

/// tangent = J direction + dp/dgamma gamma_direction[i]; no gamma_direction means that gamma stands still.
template <class Real>
FENCHEL_EXPORT void fusedmax_jvp(Input<Real> p, PerRow gamma, Input<Real> direction,
                                 std::span<const double> gamma_direction, Rows<Real> tangent,
                                 const Chain& chain);
template <class Real>
void fusedmax_jvp(Input<Real> p, PerRow gamma, Input<Real> direction, std::span<const double> gamma_direction,
                  Rows<Real> tangent) {
  fusedmax_jvp<Real>(p, gamma, direction, gamma_direction, tangent, {});
}

/// Omega*(z) + Omega(q) - <z, q>, Omega = (|p|^2 - 1) / 2 + gamma TV(p), a sum of terms that are never
/// negative: 0 where q is p. +inf where q charges a mask or padding. Its gradients are p - q and TV(q) -
/// TV(p). Targets as in entmax_loss.hpp.
template <class Real>
FENCHEL_EXPORT void fusedmax_loss(Input<Real> scores, PerRow gamma, const ClassTargets& targets,
                                  const LossOutputs<Real>& outputs, const Chain& chain = {});
template <class Real>
FENCHEL_EXPORT void fusedmax_loss(Input<Real> scores, PerRow gamma,
                                  const std::type_identity_t<SoftTargets<Real>>& targets,
                                  const LossOutputs<Real>& outputs, const Chain& chain = {});

extern template void fusedmax(Input<float>, PerRow, Rows<float>, const Chain&, double*);
extern template void fusedmax_vjp(Input<float>, PerRow, Input<float>, Rows<float>, std::span<double>,
                                  const Chain&);
extern template void fusedmax_jvp(Input<float>, PerRow, Input<float>, std::span<const double>, Rows<float>,
                                  const Chain&);
extern template void fusedmax_loss(Input<float>, PerRow, const ClassTargets&, const LossOutputs<float>&,
                                   const Chain&);
extern template void fusedmax_loss(Input<float>, PerRow, const SoftTargets<float>&, const LossOutputs<float>&,
                                   const Chain&);
extern template void fusedmax(Input<double>, PerRow, Rows<double>, const Chain&, double*);
extern template void fusedmax_vjp(Input<double>, PerRow, Input<double>, Rows<double>, std::span<double>,
                                  const Chain&);
extern template void fusedmax_jvp(Input<double>, PerRow, Input<double>, std::span<const double>, Rows<double>,
                                  const Chain&);
extern template void fusedmax_loss(Input<double>, PerRow, const ClassTargets&, const LossOutputs<double>&,
                                   const Chain&);
extern template void fusedmax_loss(Input<double>, PerRow, const SoftTargets<double>&,
                                   const LossOutputs<double>&, const Chain&);

}  // namespace fenchel::cpu
