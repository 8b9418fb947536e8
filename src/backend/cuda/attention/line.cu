#include "backend/cuda/attention/line.hpp"

#include <type_traits>

#include "backend/cuda/attention/line_any.hpp"
#include "backend/cuda/attention/line_launch.cuh"
#include "backend/cuda/device/attention/line_float.cuh"
#include "backend/cuda/device/attention/line_near.cuh"
#include "backend/cuda/device/attention/line_power.cuh"
#include "backend/cuda/device/attention/line_student.cuh"

namespace fenchel::cuda {
namespace {

/// Calls body(launcher) where all densities have an alpha that line_float.cuh has a way for, and says whether
/// they have.
template <class Real, class Body>
[[nodiscard]] bool in_float(const DensityArrays<Real>& p, const FunctionArrays& psi, Stream stream,
                            const Body& body) {
  if constexpr (std::is_same_v<Real, float>) {
    if (p.alpha.per_row()) return false;
    const double am1 = p.alpha[0] - 1;
    if (am1 == 0) {
      body(LineLauncher<device::GaussianLine>{{}, psi, stream});
      return true;
    }
    if (am1 == 1) {
      static const device::WholeLine<1> kParabola;
      body(LineLauncher<device::WholeLine<1>>{kParabola, psi, stream});
      return true;
    }
    if (am1 == 0.5) {
      static const device::WholeLine<2> kBiweight;
      body(LineLauncher<device::WholeLine<2>>{kBiweight, psi, stream});
      return true;
    }
    if (am1 == 4.0 / 3 - 1) {
      static const device::WholeLine<3> kTriweight;
      body(LineLauncher<device::WholeLine<3>>{kTriweight, psi, stream});
      return true;
    }
    if (am1 <= -detail::kNearOne) {
      const device::StudentLine line(am1);
      if (line.count > device::StudentLine::kMostNodes) return false;
      body(LineLauncher<device::StudentLine>{line, psi, stream});
      return true;
    }
    if (am1 < 1 / device::kCorrection) {
      body(LineLauncher<device::NearLine>{device::NearLine(am1), psi, stream});
    } else if (am1 <= 1 / detail::kSmoothPower) {
      body(LineLauncher<device::PowerLine<true>>{device::PowerLine<true>(am1), psi, stream});
    } else {
      body(LineLauncher<device::PowerLine<false>>{device::PowerLine<false>(am1), psi, stream});
    }
    return true;
  }
  return false;
}

[[nodiscard]] bool is_given(const auto& basis) { return basis.mu != nullptr || basis.Sigma != nullptr; }

constexpr auto kGradient = detail::Wanted::kGradient;

}  // namespace

template <class Real>
void attend_line(const DensityArrays<Real>& p, const FunctionArrays& psi, Real* r, Stream stream) {
  if (in_float(p, psi, stream, [&](const auto& line) { line.values(p, r); })) return;
  attend_line_any(p, psi, r, stream);
}

template <class Real>
void attend_vjp_line(const DensityArrays<Real>& p, const FunctionArrays& psi, const Real* cotangent,
                     const DensityTangentArrays<Real>& gradient,
                     const BasisTangentArrays<double>& basis_gradient, Stream stream) {
  const auto fast = [&](const auto& line) { line.template vjp<kGradient>(p, cotangent, gradient); };
  if (gradient.alpha != nullptr || !in_float(p, psi, stream, fast)) {
    attend_vjp_line_any(p, psi, cotangent, gradient, stream);
  }
  if (is_given(basis_gradient)) attend_basis_vjp_line_any(p, psi, cotangent, basis_gradient, stream);
}

template <class Real>
void attend_jvp_line(const DensityArrays<Real>& p, const FunctionArrays& psi,
                     const DensityTangentArrays<const Real>& direction,
                     const BasisTangentArrays<const double>& basis_direction, Real* tangent, Stream stream) {
  const auto fast = [&](const auto& line) {
    line.template jvp<kGradient>(p, direction, basis_direction, tangent);
  };
  if (direction.alpha == nullptr && !is_given(basis_direction) && in_float(p, psi, stream, fast)) return;
  attend_jvp_line_any(p, psi, direction, basis_direction, tangent, stream);
}

#define FENCHEL_INSTANTIATE_LINE(Real)                                                                \
  template void attend_line(const DensityArrays<Real>&, const FunctionArrays&, Real*, Stream);        \
  template void attend_vjp_line(const DensityArrays<Real>&, const FunctionArrays&, const Real*,       \
                                const DensityTangentArrays<Real>&, const BasisTangentArrays<double>&, \
                                Stream);                                                              \
  template void attend_jvp_line(const DensityArrays<Real>&, const FunctionArrays&,                    \
                                const DensityTangentArrays<const Real>&,                              \
                                const BasisTangentArrays<const double>&, Real*, Stream);
FENCHEL_INSTANTIATE_LINE(float)
FENCHEL_INSTANTIATE_LINE(double)
#undef FENCHEL_INSTANTIATE_LINE

}  // namespace fenchel::cuda
