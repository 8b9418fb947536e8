#pragma once

/// Continuous attention on a GPU, with contexts and derivatives up to second order.

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// Continuous attention (backend/cpu/attention.hpp) on a GPU, for Real = float and double. Densities and
/// functions are in the memory of the GPU and are not checked: one that does not exist gives a row or a
/// column of NaN, and so does an integral that does not converge (a ConvergenceError on the CPU). D is at
/// most 8, and at most 4 for second derivatives.
///
/// On the line, in double a value and a derivative err by at most twice what they do on the CPU. In float a
/// value errs by kAttendFloatError of itself where it is above 1e-6 of the function's peak, and of that
/// below, and a derivative in mu and Sigma by that of its terms, beyond what 8 roundings of the lengths to
/// float change; no value is negative. Densities of one alpha are computed in float; those with an alpha of
/// their own, and derivatives in alpha and in the functions, in double.
namespace fenchel::cuda {

/// psi_j(t) = N(t; mean_j, covariance_j) on R^D, contiguous: N x D and N x D^2, in double.
struct GaussianFunctions {
  const double* mean = nullptr;
  const double* covariance = nullptr;
  index_t count = 0, dimension = 1;
};

/// One density a row, contiguous: mu is B x D and the scale Sigma B x D^2, read in its lower triangle.
template <class Real>
struct Densities {
  const Real* mu = nullptr;
  const Real* scale = nullptr;
  index_t rows = 0;
  PerRow alpha = 1.0;
};

/// A number for each parameter of each density: a gradient, or with a const Real a direction. A null alpha
/// means a direction of 0, or a gradient that is not computed.
template <class Real>
struct DensityTangents {
  Real* mu = nullptr;
  Real* scale = nullptr;
  Real* alpha = nullptr;
};

/// A number for each parameter of each function. A null direction means 0, and a null gradient is not
/// computed.
template <class Real>
struct BasisTangents {
  Real* mean = nullptr;
  Real* covariance = nullptr;
};

/// `count` matrices B, each `dimension` x N, as in backend/cpu/attention.hpp.
template <class Real>
struct ValueMatrices {
  Real* data = nullptr;
  index_t count = 0, dimension = 0;
};

/// r, B x N, contiguous as all arrays here.
template <class Real>
FENCHEL_EXPORT void attend(const Densities<Real>& p, const GaussianFunctions& psi, Real* r, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_vjp(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                               const DensityTangents<Real>& gradient,
                               const BasisTangents<double>& basis_gradient, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_jvp(const Densities<Real>& p, const GaussianFunctions& psi,
                               const DensityTangents<const Real>& direction,
                               const BasisTangents<const double>& basis_direction, Real* tangent,
                               Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_vjp_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                                   const Real* cotangent, const DensityTangents<const Real>& direction,
                                   const BasisTangents<const double>& basis_direction,
                                   const DensityTangents<Real>& product,
                                   const BasisTangents<double>& basis_product, Stream stream);

/// c_i = B r_i, rows x dimension, without storing r.
template <class Real>
FENCHEL_EXPORT void attend_context(const Densities<Real>& p, const GaussianFunctions& psi,
                                   const ValueMatrices<const Real>& values, Real* context, Stream stream);

template <class Real>
FENCHEL_EXPORT void attend_context_vjp(const Densities<Real>& p, const GaussianFunctions& psi,
                                       const ValueMatrices<const Real>& values, const Real* cotangent,
                                       const DensityTangents<Real>& gradient,
                                       const ValueMatrices<Real>& values_gradient, Stream stream);

}  // namespace fenchel::cuda
