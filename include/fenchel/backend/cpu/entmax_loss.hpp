#pragma once

/// Fenchel-Young and cross-Omega losses over the rows of a batch, with gradients and Hessian products.

#include <span>

#include "fenchel/backend/cpu/entmax.hpp"

/// Fenchel-Young and cross-Omega losses of Omega_alpha over the rows of a batch [SCD22, Section 4.2;
/// docs/math.md 2]:
///   fenchel_young = Omega*(z) + Omega(q) - <z, q>,   cross_omega = Omega*(z) - <z, q>,
/// the cross-entropy and KL at alpha = 1. Their gradient with respect to the scores z is p - q, p =
/// entmax(z), and their Hessian is p's Jacobian. A class is the target that puts everything on one column:
/// both losses agree on it.
///
/// fenchel_young is a sum of terms that are never negative: exactly 0 where q is p. A masked score (-inf)
/// under a positive target gives +inf; a row without prediction (NaN, +inf, all masked) gives NaN in that
/// row.
namespace fenchel::cpu {

enum class Reduction { none, mean, sum };

/// A class for each row, in [0, cols), or `ignored`.
struct ClassTargets {
  std::span<const index_t> classes;
  index_t ignored = -100;
};

/// A distribution for each row: not negative, and of sum one to kTargetSumTolerance. Where `ignore` is given,
/// a row whose entry is not 0 is ignored.
template <class Real>
struct SoftTargets {
  Rows<const Real> rows;
  std::span<const unsigned char> ignore = {};
};

inline constexpr double kTargetSumTolerance = 1e-4;

/// What to write; parts left empty are not computed. An ignored row has loss 0 and gradient 0 and does not
/// count in the mean; a batch of ignored rows has mean 0. Gradients are those of the reduced loss.
template <class Real>
struct LossOutputs {
  std::span<Real> loss = {};          ///< one a row, or one in all after a mean or sum
  Rows<Real> grad_scores = {};        ///< may be the scores themselves
  std::span<double> grad_alpha = {};  ///< d loss_i / d alpha_i: add them up for an alpha that rows share
};

/// Throws as entmax does, and std::domain_error for a class or a soft target out of range, naming the first.
template <class Real>
FENCHEL_EXPORT void fenchel_young(Input<Real> scores, PerRow alpha, const ClassTargets& targets,
                                  Reduction reduction, const LossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void fenchel_young(Input<Real> scores, PerRow alpha,
                                  const std::type_identity_t<SoftTargets<Real>>& targets, Reduction reduction,
                                  const LossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void cross_omega(Input<Real> scores, PerRow alpha,
                                const std::type_identity_t<SoftTargets<Real>>& targets, Reduction reduction,
                                const LossOutputs<Real>& outputs);

/// product[i] = H_i direction[i], H_i the Hessian of row i's loss with respect to its scores (for any
/// target).
template <class Real>
FENCHEL_EXPORT void fenchel_young_hessian_product(Input<Real> scores, PerRow alpha, Input<Real> direction,
                                                  Rows<Real> product);

/// A direction, and the Hessian of each row's loss in scores and alpha times it. With J and D of
/// entmax_derivatives.hpp and Omega'' the second derivative in alpha (cross_omega has no Omega''(q)),
///   product = J (d_scores - D d_alpha),   product_alpha = (Omega''(q) - Omega''(p)) d_alpha - <D, product>.
template <class Real>
struct LossCurvature {
  Rows<const Real> d_scores;
  std::span<const double> d_alpha = {};  ///< empty where alpha stands still
  Rows<Real> product;                    ///< may be d_scores
  std::span<double> product_alpha = {};  ///< computed if asked for
};

/// From the residual p - q that a loss without reduction writes as its gradient: a p that is far below q is
/// as exact as that. An ignored row gives 0. Undefined where a score lies on the edge of the support.
template <class Real>
FENCHEL_EXPORT void fenchel_young_curvature(Input<Real> residual, PerRow alpha, const ClassTargets& targets,
                                            const LossCurvature<Real>& curvature);
template <class Real>
FENCHEL_EXPORT void fenchel_young_curvature(Input<Real> residual, PerRow alpha,
                                            const std::type_identity_t<SoftTargets<Real>>& targets,
                                            const LossCurvature<Real>& curvature);
template <class Real>
FENCHEL_EXPORT void cross_omega_curvature(Input<Real> residual, PerRow alpha,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossCurvature<Real>& curvature);

extern template void fenchel_young(Input<float>, PerRow, const ClassTargets&, Reduction,
                                   const LossOutputs<float>&);
extern template void fenchel_young(Input<double>, PerRow, const ClassTargets&, Reduction,
                                   const LossOutputs<double>&);
extern template void fenchel_young(Input<float>, PerRow, const SoftTargets<float>&, Reduction,
                                   const LossOutputs<float>&);
extern template void fenchel_young(Input<double>, PerRow, const SoftTargets<double>&, Reduction,
                                   const LossOutputs<double>&);
extern template void cross_omega(Input<float>, PerRow, const SoftTargets<float>&, Reduction,
                                 const LossOutputs<float>&);
extern template void cross_omega(Input<double>, PerRow, const SoftTargets<double>&, Reduction,
                                 const LossOutputs<double>&);
extern template void fenchel_young_hessian_product(Input<float>, PerRow, Input<float>, Rows<float>);
extern template void fenchel_young_hessian_product(Input<double>, PerRow, Input<double>, Rows<double>);
extern template void fenchel_young_curvature(Input<float>, PerRow, const ClassTargets&,
                                             const LossCurvature<float>&);
extern template void fenchel_young_curvature(Input<double>, PerRow, const ClassTargets&,
                                             const LossCurvature<double>&);
extern template void fenchel_young_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                             const LossCurvature<float>&);
extern template void fenchel_young_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                             const LossCurvature<double>&);
extern template void cross_omega_curvature(Input<float>, PerRow, const SoftTargets<float>&,
                                           const LossCurvature<float>&);
extern template void cross_omega_curvature(Input<double>, PerRow, const SoftTargets<double>&,
                                           const LossCurvature<double>&);

}  // namespace fenchel::cpu
