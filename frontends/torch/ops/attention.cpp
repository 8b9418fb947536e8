#include "ops/attention.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cpu/attention.hpp"
#include "ops/cpu.hpp"

namespace fenchel::ops {
namespace {

struct Kernels : Cpu {
  using Cpu::Cpu;

  template <class Real>
  [[nodiscard]] static cpu::Densities<Real> densities(Rows<const Real> mu, Rows<const Real> scale,
                                                      PerRow alpha) {
    return {mu, scale, alpha};
  }
  [[nodiscard]] static cpu::GaussianFunctions functions(Rows<const double> mean,
                                                        Rows<const double> covariance) {
    return {mean, covariance};
  }
  template <class Real>
  [[nodiscard]] static cpu::DensityTangents<Real> tangents(Rows<Real> mu, Rows<Real> scale,
                                                           std::span<Real> alpha) {
    return {mu, scale, alpha};
  }
  template <class Real>
  [[nodiscard]] static cpu::BasisTangents<Real> basis(Rows<Real> mean, Rows<Real> covariance) {
    return {mean, covariance};
  }
  static void attend(const auto&... arguments) { cpu::attend(arguments...); }
  static void attend_vjp(const auto&... arguments) { cpu::attend_vjp(arguments...); }
  static void attend_jvp(const auto&... arguments) { cpu::attend_jvp(arguments...); }
  static void attend_vjp_vjp(const auto&... arguments) { cpu::attend_vjp_vjp(arguments...); }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("attend", TORCH_BOX(&attend<Kernels>));
  m.impl("attend_vjp", TORCH_BOX(&attend_vjp<Kernels>));
  m.impl("attend_jvp", TORCH_BOX(&attend_jvp<Kernels>));
  m.impl("attend_vjp_vjp", TORCH_BOX(&attend_vjp_vjp<Kernels>));
}

}  // namespace fenchel::ops
