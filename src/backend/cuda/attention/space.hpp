#pragma once

#include "backend/cuda/attention/arrays.hpp"

/// Continuous attention in D >= 2 dimensions, each function that of attention.hpp whose name it begins with:
/// arguments have been checked, and there is at least one density. The second derivatives are for D = 1, too.
namespace fenchel::cuda {

template <class Real>
void attend_space(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream);

template <class Real>
void attend_vjp_space(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                      const DensityTangentArrays<Real>& gradient,
                      const BasisTangentArrays<double>& basis_gradient, Stream stream);

template <class Real>
void attend_jvp_space(const DensityArrays<Real>& p, const FunctionArrays& psi,
                      const DensityTangentArrays<const Real>& direction,
                      const BasisTangentArrays<const double>& basis_direction, Real* tangent, Stream stream);

template <class Real>
void attend_vjp_vjp_space(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                          const DensityTangentArrays<const Real>& direction,
                          const BasisTangentArrays<const double>& basis_direction,
                          const DensityTangentArrays<Real>& product,
                          const BasisTangentArrays<double>& basis_product, Stream stream);

}  // namespace fenchel::cuda
