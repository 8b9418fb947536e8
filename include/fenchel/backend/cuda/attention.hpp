#pragma once

/// Continuous attention on a GPU, with derivatives up to second order.

#include "fenchel/backend/attention_views.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// Continuous attention (backend/cpu/attention.hpp) on a GPU, for Real = float and double. Densities and
/// functions are in the memory of the GPU and are not checked: one that does not exist gives a row or a
/// column of NaN, and so does an integral that does not converge (a ConvergenceError on the CPU). All rows
/// are contiguous, one after the other. D is at most 8, and at most 4 for second derivatives.
///
/// On the line, in double a value and a derivative err by at most twice what they do on the CPU. In float a
/// value errs by kAttendFloatError of itself where it is above 1e-6 of the function's peak, and of that
/// below, and a derivative in mu and Sigma by that of its terms, beyond what 8 roundings of the lengths to
/// float change; no value is negative. Densities of one alpha are computed in float; those with an alpha of
/// their own, and derivatives in alpha and in the functions, in double.
namespace fenchel::cuda {

using GaussianFunctions = GaussianFunctionViews<DeviceRows>;
template <class Real>
using Densities = DensityViews<DeviceRows, Real>;
template <class Real>
using DensityTangents = DensityTangentViews<DeviceRows, Real>;
template <class Real>
using BasisTangents = BasisTangentViews<DeviceRows, Real>;

template <class Real>
FENCHEL_EXPORT void attend(const Densities<Real>& p, const GaussianFunctions& psi,
                           DeviceRows<std::type_identity_t<Real>> r, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                               DeviceRows<const std::type_identity_t<Real>> cotangent,
                               const DensityTangents<std::type_identity_t<Real>>& gradient,
                               const BasisTangents<double>& basis_gradient, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                               const DensityTangents<const std::type_identity_t<Real>>& direction,
                               const BasisTangents<const double>& basis_direction,
                               DeviceRows<std::type_identity_t<Real>> tangent, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                                   DeviceRows<const std::type_identity_t<Real>> cotangent,
                                   const DensityTangents<const std::type_identity_t<Real>>& direction,
                                   const BasisTangents<const double>& basis_direction,
                                   const DensityTangents<std::type_identity_t<Real>>& product,
                                   const BasisTangents<double>& basis_product, Stream stream);

}  // namespace fenchel::cuda
