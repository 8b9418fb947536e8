#pragma once

#include "backend/cuda/attention/arrays.hpp"

/// Continuous attention on the line for every alpha, one a row or the same for all, by quadrature in double.
namespace fenchel::cuda {

template <class Real>
void attend_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream);

/// The gradient in the densities.
template <class Real>
void attend_vjp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                         const DensityTangentArrays<Real>& gradient, Stream stream);

/// The gradient in the functions.
template <class Real>
void attend_basis_vjp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                               const BasisTangentArrays<double>& basis_gradient, Stream stream);

template <class Real>
void attend_jvp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi,
                         const DensityTangentArrays<const Real>& direction,
                         const BasisTangentArrays<const double>& basis_direction, Real* tangent,
                         Stream stream);

}  // namespace fenchel::cuda
