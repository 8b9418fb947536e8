#include "ops/attention.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cuda/attention.hpp"
#include "ops/cuda/device.hpp"

namespace fenchel::ops {
namespace {

struct Kernels : Cuda {
  using Cuda::Cuda;

  template <class Real>
  [[nodiscard]] static cuda::Densities<Real> densities(Rows<const Real> mu, Rows<const Real> scale,
                                                       PerRow alpha) {
    return {mu.data, scale.data, mu.rows, alpha};
  }
  [[nodiscard]] static cuda::GaussianFunctions functions(Rows<const double> mean,
                                                         Rows<const double> covariance) {
    return {mean.data, covariance.data, mean.rows, mean.cols};
  }
  template <class Real>
  [[nodiscard]] static cuda::DensityTangents<Real> tangents(Rows<Real> mu, Rows<Real> scale,
                                                            std::span<Real> alpha) {
    return {mu.data, scale.data, alpha.data()};
  }
  template <class Real>
  [[nodiscard]] static cuda::BasisTangents<Real> basis(Rows<Real> mean, Rows<Real> covariance) {
    return {mean.data, covariance.data};
  }
  template <class Real>
  void attend(const cuda::Densities<Real>& p, const cuda::GaussianFunctions& psi, Rows<Real> r) const {
    cuda::attend(p, psi, r.data, stream());
  }
  template <class Real>
  void attend_vjp(const cuda::Densities<Real>& p, const cuda::GaussianFunctions& psi,
                  Rows<const Real> cotangent, const cuda::DensityTangents<Real>& gradient,
                  const cuda::BasisTangents<double>& basis_gradient) const {
    cuda::attend_vjp(p, psi, cotangent.data, gradient, basis_gradient, stream());
  }
  template <class Real>
  void attend_jvp(const cuda::Densities<Real>& p, const cuda::GaussianFunctions& psi,
                  const cuda::DensityTangents<const Real>& direction, Rows<Real> tangent,
                  const cuda::BasisTangents<const double>& basis_direction) const {
    cuda::attend_jvp(p, psi, direction, basis_direction, tangent.data, stream());
  }
  template <class Real>
  void attend_vjp_vjp(const cuda::Densities<Real>& p, const cuda::GaussianFunctions& psi,
                      Rows<const Real> cotangent, const cuda::DensityTangents<const Real>& direction,
                      const cuda::BasisTangents<const double>& basis_direction,
                      const cuda::DensityTangents<Real>& product,
                      const cuda::BasisTangents<double>& basis_product) const {
    cuda::attend_vjp_vjp(p, psi, cotangent.data, direction, basis_direction, product, basis_product,
                         stream());
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("attend", TORCH_BOX(&attend<Kernels>));
  m.impl("attend_vjp", TORCH_BOX(&attend_vjp<Kernels>));
  m.impl("attend_jvp", TORCH_BOX(&attend_jvp<Kernels>));
  m.impl("attend_vjp_vjp", TORCH_BOX(&attend_vjp_vjp<Kernels>));
}

}  // namespace fenchel::ops
