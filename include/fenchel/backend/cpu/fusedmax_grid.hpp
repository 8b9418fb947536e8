#pragma once

/// `fusedmax_grid`: fusedmax of images, its derivatives and its loss.

#include <span>

#include "fenchel/backend/cpu/chain.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"

/// Fusedmax of images: each row of the batch is one of `height` rows of pixels, one after the other, and
///   p = argmax_p <p, f> - |p|^2 / 2 - gamma TV(p) = sparsemax(prox_{gamma TV}(f)),
/// where TV(p) sums |p_u - p_v| over horizontal and vertical neighbours [SCD22, Section 7; docs/math.md 6.1].
/// p has plateaus, whose pixels get the same number; gamma = 0 is sparsemax, large gamma is uniform.
///
/// -inf is a mask: p is 0 there, and differences from it are penalised. A row with a NaN, a +inf or no finite
/// score becomes NaN. `p` may be `scores`. Throws as entmax does, std::invalid_argument also unless height is
/// positive and divides the columns, std::domain_error unless gamma is finite and not negative.
namespace fenchel::cpu {

/// How wrong p may be, in units of 1 + gamma + the spread of the unmasked scores; float adds its rounding.
/// Values that are as near to each other may become one plateau.
inline constexpr double kFusedmaxGridError = 1e-13;

/// By minimum cuts, exact but for rounding; on noise the time grows like pixels^1.5 or so. Writes the
/// threshold of that sparsemax for each row where it is not null.
template <class Real>
FENCHEL_EXPORT void fusedmax_grid(Input<Real> scores, index_t height, PerRow gamma, Rows<Real> p,
                                  double* threshold = nullptr);

/// Derivatives from p alone. J = dp/df averages over each plateau (connected pixels of equal p > 0; single
/// pixels at gamma = 0) and subtracts the mean over the support; it is symmetric, and 0 off the support.
/// dp/dgamma = J k, k the number of a pixel's neighbours of larger p less that of smaller p. A NaN row stays
/// NaN. What float rounds to equal neighbours is one plateau. Outputs may be the inputs other than p.
///
/// gradient = J cotangent, and gamma_gradient[i] = <cotangent, dp/dgamma> of row i if asked for.
template <class Real>
FENCHEL_EXPORT void fusedmax_grid_vjp(Input<Real> p, index_t height, PerRow gamma, Input<Real> cotangent,
                                      Rows<Real> gradient, std::span<double> gamma_gradient = {});
/// tangent = J direction + dp/dgamma gamma_direction[i]; no gamma_direction means that gamma stands still.
template <class Real>
FENCHEL_EXPORT void fusedmax_grid_jvp(Input<Real> p, index_t height, PerRow gamma, Input<Real> direction,
                                      std::span<const double> gamma_direction, Rows<Real> tangent);

/// Fenchel-Young loss of Omega = (|p|^2 - 1) / 2 + gamma TV(p): Omega*(f) + Omega(q) - <f, q>, with gradient
/// p - q in the scores and TV(q) - TV(p) in gamma. Never negative, 0 where q is p; +inf where q charges a
/// masked pixel. Targets are as in entmax_loss.hpp.
template <class Real>
FENCHEL_EXPORT void fusedmax_grid_loss(Input<Real> scores, index_t height, PerRow gamma,
                                       const ClassTargets& targets, const LossOutputs<Real>& outputs);
template <class Real>
FENCHEL_EXPORT void fusedmax_grid_loss(Input<Real> scores, index_t height, PerRow gamma,
                                       const std::type_identity_t<SoftTargets<Real>>& targets,
                                       const LossOutputs<Real>& outputs);

extern template void fusedmax_grid(Input<float>, index_t, PerRow, Rows<float>, double*);
extern template void fusedmax_grid_vjp(Input<float>, index_t, PerRow, Input<float>, Rows<float>,
                                       std::span<double>);
extern template void fusedmax_grid_jvp(Input<float>, index_t, PerRow, Input<float>, std::span<const double>,
                                       Rows<float>);
extern template void fusedmax_grid_loss(Input<float>, index_t, PerRow, const ClassTargets&,
                                        const LossOutputs<float>&);
extern template void fusedmax_grid_loss(Input<float>, index_t, PerRow, const SoftTargets<float>&,
                                        const LossOutputs<float>&);
extern template void fusedmax_grid(Input<double>, index_t, PerRow, Rows<double>, double*);
extern template void fusedmax_grid_vjp(Input<double>, index_t, PerRow, Input<double>, Rows<double>,
                                       std::span<double>);
extern template void fusedmax_grid_jvp(Input<double>, index_t, PerRow, Input<double>, std::span<const double>,
                                       Rows<double>);
extern template void fusedmax_grid_loss(Input<double>, index_t, PerRow, const ClassTargets&,
                                        const LossOutputs<double>&);
extern template void fusedmax_grid_loss(Input<double>, index_t, PerRow, const SoftTargets<double>&,
                                        const LossOutputs<double>&);

}  // namespace fenchel::cpu
