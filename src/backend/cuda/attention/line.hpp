#pragma once

#include "backend/cuda/attention/arrays.hpp"

/// Continuous attention on the line, each function that of attention.hpp whose name it begins with: arguments
/// have been checked, and there is at least one density. Second derivatives are those of space.hpp.
namespace fenchel::cuda {

template <class Real>
void attend_line(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream);

template <class Real>
void attend_vjp_line(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                     const DensityTangentArrays<Real>& gradient,
                     const BasisTangentArrays<double>& basis_gradient, Stream stream);

template <class Real>
void attend_jvp_line(const DensityArrays<Real>& p, const FunctionArrays& psi,
                     const DensityTangentArrays<const Real>& direction,
                     const BasisTangentArrays<const double>& basis_direction, Real* tangent, Stream stream);

}  // namespace fenchel::cuda
