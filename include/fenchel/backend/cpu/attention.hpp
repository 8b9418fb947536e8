#pragma once

/// Continuous attention over the rows of a batch, with contexts and derivatives up to second order.

#include <type_traits>

#include "fenchel/backend/attention_views.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

/// Continuous attention in bulk [SCD22, Section 8; docs/math.md 7]: r_ij = E_{p_i}[psi_j] for beta-Gaussian
/// densities p_i and Gaussian functions psi_j on R^D, the contexts c_i = B r_i, and their derivatives, in
/// float and double. All arithmetic is in double, and a float result is rounded once.
///
/// A row's result depends on that row alone. A batch without rows is allowed. Throw std::invalid_argument for
/// shapes that do not fit, an empty basis or a null view, std::domain_error for a density or function that
/// does not exist, ConvergenceError where a result would not be accurate.
namespace fenchel::cpu {

using GaussianFunctions = GaussianFunctionViews<Rows>;
template <class Real>
using Densities = DensityViews<Rows, Real>;
template <class Real>
using DensityTangents = DensityTangentViews<Rows, Real>;
template <class Real>
using BasisTangents = BasisTangentViews<Rows, Real>;

/// `count` matrices B, each `dimension` x N, one after the other, row by row. Densities that follow each
/// other share a matrix: row i looks into matrix i / (rows / count).
template <class Real>
struct ValueMatrices {
  Real* data = nullptr;
  index_t count = 0, dimension = 0;
};

/// On the line a value errs by kAttendLineError of itself wherever it is above 1e-30 of the function's peak,
/// and a derivative by kAttendSlopeError of the integral of its terms' absolute values, beyond what 8
/// roundings of the lengths change; in float both by kAttendFloatError. Smaller values are never NaN or
/// negative.
inline constexpr double kAttendLineError = 1e-12, kAttendSlopeError = 1e-10, kAttendFloatError = 2e-5;

/// A Hessian product errs by this of the sum of its terms' absolute values; in float it is that, rounded.
inline constexpr double kAttendHessianError = 1e-10;

/// r = E_p[psi], B x N.
template <class Real>
FENCHEL_EXPORT void attend(const Densities<Real>& p, const GaussianFunctions& psi,
                           Rows<std::type_identity_t<Real>> r);

/// The gradient of sum_ij cotangent_ij r_ij in the parameters of the densities, and in those of the functions
/// that `basis_gradient` has a view for.
template <class Real>
FENCHEL_EXPORT void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                               Rows<const std::type_identity_t<Real>> cotangent,
                               const DensityTangents<std::type_identity_t<Real>>& gradient,
                               const BasisTangents<double>& basis_gradient = {});

/// How r moves, B x N, when the parameters move along a direction.
template <class Real>
FENCHEL_EXPORT void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                               const DensityTangents<const std::type_identity_t<Real>>& direction,
                               const BasisTangents<const double>& basis_direction,
                               Rows<std::type_identity_t<Real>> tangent);

/// The Hessian of sum_ij cotangent_ij r_ij in the parameters of the densities and of the functions, times a
/// direction. A null mu or Sigma, too, is a direction of 0 or a product that is not wanted.
template <class Real>
FENCHEL_EXPORT void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                                   Rows<const std::type_identity_t<Real>> cotangent,
                                   const DensityTangents<const std::type_identity_t<Real>>& direction,
                                   const BasisTangents<const double>& basis_direction,
                                   const DensityTangents<std::type_identity_t<Real>>& product,
                                   const BasisTangents<double>& basis_product);

/// c_i = B r_i, rows x dimension, without storing r.
template <class Real>
FENCHEL_EXPORT void attend_context(const Densities<Real>& p, const GaussianFunctions& psi,
                                   const ValueMatrices<const std::type_identity_t<Real>>& values,
                                   Rows<std::type_identity_t<Real>> context);

/// The gradient of sum_im cotangent_im c_im in the parameters of the densities, and in the value matrices
/// unless `values_gradient.data` is null.
template <class Real>
FENCHEL_EXPORT void attend_context_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                                       const ValueMatrices<const std::type_identity_t<Real>>& values,
                                       Rows<const std::type_identity_t<Real>> cotangent,
                                       const DensityTangents<std::type_identity_t<Real>>& gradient,
                                       const ValueMatrices<std::type_identity_t<Real>>& values_gradient = {});

extern template void attend(const Densities<float>&, const GaussianFunctions&, Rows<float>);
extern template void attend_vjp(const Densities<float>&, const GaussianFunctions&, Rows<const float>,
                                const DensityTangents<float>&, const BasisTangents<double>&);
extern template void attend_jvp(const Densities<float>&, const GaussianFunctions&,
                                const DensityTangents<const float>&, const BasisTangents<const double>&,
                                Rows<float>);
extern template void attend_vjp_vjp(const Densities<float>&, const GaussianFunctions&, Rows<const float>,
                                    const DensityTangents<const float>&, const BasisTangents<const double>&,
                                    const DensityTangents<float>&, const BasisTangents<double>&);
extern template void attend_context(const Densities<float>&, const GaussianFunctions&,
                                    const ValueMatrices<const float>&, Rows<float>);
extern template void attend_context_vjp(const Densities<float>&, const GaussianFunctions&,
                                        const ValueMatrices<const float>&, Rows<const float>,
                                        const DensityTangents<float>&, const ValueMatrices<float>&);
extern template void attend(const Densities<double>&, const GaussianFunctions&, Rows<double>);
extern template void attend_vjp(const Densities<double>&, const GaussianFunctions&, Rows<const double>,
                                const DensityTangents<double>&, const BasisTangents<double>&);
extern template void attend_jvp(const Densities<double>&, const GaussianFunctions&,
                                const DensityTangents<const double>&, const BasisTangents<const double>&,
                                Rows<double>);
extern template void attend_vjp_vjp(const Densities<double>&, const GaussianFunctions&, Rows<const double>,
                                    const DensityTangents<const double>&, const BasisTangents<const double>&,
                                    const DensityTangents<double>&, const BasisTangents<double>&);
extern template void attend_context(const Densities<double>&, const GaussianFunctions&,
                                    const ValueMatrices<const double>&, Rows<double>);
extern template void attend_context_vjp(const Densities<double>&, const GaussianFunctions&,
                                        const ValueMatrices<const double>&, Rows<const double>,
                                        const DensityTangents<double>&, const ValueMatrices<double>&);

}  // namespace fenchel::cpu
