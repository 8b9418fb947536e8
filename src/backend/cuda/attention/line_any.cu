#include "backend/cuda/attention/line_any.hpp"
#include "backend/cuda/attention/line_launch.cuh"

namespace fenchel::cuda {

template <class Real>
using AnyLauncher =
    LineLauncher<device::AnyLine<sizeof(Real) == 4 ? detail::Accuracy::kSingle : detail::Accuracy::kDouble>>;

template <class Real>
void attend_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream) {
  AnyLauncher<Real>{{}, psi, stream}.values(p, r);
}

template <class Real>
void attend_vjp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                         const DensityTangentArrays<Real>& gradient, Stream stream) {
  const AnyLauncher<Real> line{{}, psi, stream};
  gradient.alpha != nullptr ? line.template vjp<detail::Wanted::kAll>(p, cotangent, gradient)
                            : line.template vjp<detail::Wanted::kGradient>(p, cotangent, gradient);
}

template <class Real>
void attend_basis_vjp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                               const BasisTangentArrays<double>& basis_gradient, Stream stream) {
  AnyLauncher<Real>{{}, psi, stream}.basis_gradient(p, cotangent, basis_gradient);
}

template <class Real>
void attend_jvp_line_any(const DensityArrays<Real>& p, const FunctionArrays& psi,
                         const DensityTangentArrays<const Real>& direction,
                         const BasisTangentArrays<const double>& basis_direction, Real* tangent,
                         Stream stream) {
  const AnyLauncher<Real> line{{}, psi, stream};
  const bool more =
      direction.alpha != nullptr || basis_direction.mu != nullptr || basis_direction.Sigma != nullptr;
  more ? line.template jvp<detail::Wanted::kAll>(p, direction, basis_direction, tangent)
       : line.template jvp<detail::Wanted::kGradient>(p, direction, basis_direction, tangent);
}

#define FENCHEL_INSTANTIATE(Real)                                                                         \
  template void attend_line_any(const DensityArrays<Real>&, const FunctionArrays&, Real*, Stream);        \
  template void attend_vjp_line_any(const DensityArrays<Real>&, const FunctionArrays&, const Real*,       \
                                    const DensityTangentArrays<Real>&, Stream);                           \
  template void attend_basis_vjp_line_any(const DensityArrays<Real>&, const FunctionArrays&, const Real*, \
                                          const BasisTangentArrays<double>&, Stream);                     \
  template void attend_jvp_line_any(const DensityArrays<Real>&, const FunctionArrays&,                    \
                                    const DensityTangentArrays<const Real>&,                              \
                                    const BasisTangentArrays<const double>&, Real*, Stream);
FENCHEL_INSTANTIATE(float)
FENCHEL_INSTANTIATE(double)
#undef FENCHEL_INSTANTIATE

}  // namespace fenchel::cuda
