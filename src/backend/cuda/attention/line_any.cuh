#pragma once

#include "backend/cuda/attention/line_any.hpp"
#include "backend/cuda/attention/line_launch.cuh"

/// The definitions of attention_line_any.hpp, which attention_line_float.cu and attention_line_double.cu
/// compile side by side.
namespace fenchel::cuda {

template <class Real>
using AnyLauncher =
    LineLauncher<device::AnyLine<sizeof(Real) == 4 ? detail::Accuracy::kSingle : detail::Accuracy::kDouble>>;

template <class Real>
void attend_line_any(const Densities<Real>& p, const GaussianFunctions& psi, Real* r, Stream stream) {
  AnyLauncher<Real>{{}, psi, stream}.values(p, r);
}

template <class Real>
void attend_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                         const DensityTangents<Real>& gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_vjp";
  const AnyLauncher<Real> line{{}, psi, stream};
  const device::StoredCotangent<Real> stored{cotangent};
  gradient.alpha != nullptr ? line.template vjp<detail::Wanted::kAll>(kWhere, p, stored, gradient)
                            : line.template vjp<detail::Wanted::kGradient>(kWhere, p, stored, gradient);
}

template <class Real>
void attend_basis_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi, const Real* cotangent,
                               const BasisTangents<double>& basis_gradient, Stream stream) {
  AnyLauncher<Real>{{}, psi, stream}.basis_gradient(p, cotangent, basis_gradient);
}

template <class Real>
void attend_jvp_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                         const DensityTangents<const Real>& direction,
                         const BasisTangents<const double>& basis_direction, Real* tangent, Stream stream) {
  const AnyLauncher<Real> line{{}, psi, stream};
  const bool more =
      direction.alpha != nullptr || basis_direction.mean != nullptr || basis_direction.covariance != nullptr;
  more ? line.template jvp<detail::Wanted::kAll>(p, direction, basis_direction, tangent)
       : line.template jvp<detail::Wanted::kGradient>(p, direction, basis_direction, tangent);
}

template <class Real>
void attend_context_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                             const ValueMatrices<const Real>& values, Real* context, Stream stream) {
  AnyLauncher<Real>{{}, psi, stream}.context(p, values, context);
}

template <class Real>
void attend_context_vjp_line_any(const Densities<Real>& p, const GaussianFunctions& psi,
                                 const ValueMatrices<const Real>& values, const Real* cotangent,
                                 const DensityTangents<Real>& gradient,
                                 const ValueMatrices<Real>& values_gradient, Stream stream) {
  constexpr std::string_view kWhere = "cuda::attend_context_vjp";
  const AnyLauncher<Real> line{{}, psi, stream};
  const device::PulledCotangent<Real> pulled{values, cotangent, p.rows / values.count};
  gradient.alpha != nullptr ? line.template vjp<detail::Wanted::kAll>(kWhere, p, pulled, gradient)
                            : line.template vjp<detail::Wanted::kGradient>(kWhere, p, pulled, gradient);
  if (values_gradient.data != nullptr) line.values_gradient(p, cotangent, values_gradient);
}

}  // namespace fenchel::cuda

#define FENCHEL_INSTANTIATE_ANY_LINE(Real)                                                                  \
  namespace fenchel::cuda {                                                                                 \
  template void attend_line_any(const Densities<Real>&, const GaussianFunctions&, Real*, Stream);           \
  template void attend_vjp_line_any(const Densities<Real>&, const GaussianFunctions&, const Real*,          \
                                    const DensityTangents<Real>&, Stream);                                  \
  template void attend_basis_vjp_line_any(const Densities<Real>&, const GaussianFunctions&, const Real*,    \
                                          const BasisTangents<double>&, Stream);                            \
  template void attend_jvp_line_any(const Densities<Real>&, const GaussianFunctions&,                       \
                                    const DensityTangents<const Real>&, const BasisTangents<const double>&, \
                                    Real*, Stream);                                                         \
  template void attend_context_line_any(const Densities<Real>&, const GaussianFunctions&,                   \
                                        const ValueMatrices<const Real>&, Real*, Stream);                   \
  template void attend_context_vjp_line_any(const Densities<Real>&, const GaussianFunctions&,               \
                                            const ValueMatrices<const Real>&, const Real*,                  \
                                            const DensityTangents<Real>&, const ValueMatrices<Real>&,       \
                                            Stream);                                                        \
  }
