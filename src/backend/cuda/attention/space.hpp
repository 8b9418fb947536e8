#pragma once

#include "fenchel/backend/cuda/attention.hpp"

/// Continuous attention in D >= 2 dimensions, each function that of attention.hpp whose name it begins with:
/// arguments have been checked, and there is at least one density. The second derivatives are for D = 1, too.
namespace fenchel::cuda {

template <class Real>
void attend_space(const Densities<Real>& p, const GaussianFunctions& psi, Real* r, Stream stream);

template <class Real>
void attend_vjp_space(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                      const DensityTangents<Real>& gradient, const BasisTangents<double>& basis_gradient,
                      Stream stream);

template <class Real>
void attend_jvp_space(const Densities<Real>& p, const GaussianFunctions& psi,
                      const DensityTangents<const Real>& direction,
                      const BasisTangents<const double>& basis_direction, Real* tangent, Stream stream);

template <class Real>
void attend_vjp_vjp_space(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                          const DensityTangents<const Real>& direction,
                          const BasisTangents<const double>& basis_direction,
                          const DensityTangents<Real>& product, const BasisTangents<double>& basis_product,
                          Stream stream);

template <class Real>
void attend_context_space(const Densities<Real>& p, const GaussianFunctions& psi,
                          const ValueMatrices<const Real>& values, Real* context, Stream stream);

template <class Real>
void attend_context_vjp_space(const Densities<Real>& p, const GaussianFunctions& psi,
                              const ValueMatrices<const Real>& values, const Real* cotangent,
                              const DensityTangents<Real>& gradient,
                              const ValueMatrices<Real>& values_gradient, Stream stream);

}  // namespace fenchel::cuda
