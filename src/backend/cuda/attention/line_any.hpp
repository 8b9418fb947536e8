#pragma once

#include "fenchel/backend/cuda/attention.hpp"

/// Continuous attention on the line for every alpha, one a row or the same for all, by quadrature in double.
namespace fenchel::cuda {

template <class Real>
void attend_line_any(const Densities<Real>& p, const GaussianFunctions& psi, Real* r, Stream stream);

/// The gradient in the densities.
template <class Real>
void attend_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                         const DensityTangents<Real>& gradient, Stream stream);

/// The gradient in the functions.
template <class Real>
void attend_basis_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                               const BasisTangents<double>& basis_gradient, Stream stream);

template <class Real>
void attend_jvp_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                         const DensityTangents<const Real>& direction,
                         const BasisTangents<const double>& basis_direction, Real* tangent, Stream stream);

template <class Real>
void attend_context_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                             const ValueMatrices<const Real>& values, Real* context, Stream stream);

template <class Real>
void attend_context_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                                 const ValueMatrices<const Real>& values, const Real* cotangent,
                                 const DensityTangents<Real>& gradient,
                                 const ValueMatrices<Real>& values_gradient, Stream stream);

}  // namespace fenchel::cuda
