#include "ops/beta_gaussian.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "ops/cpu.hpp"

namespace fenchel::ops {
namespace {

using Values = std::span<const double>;

struct Kernels : Cpu {
  using Cpu::Cpu;
  using Batch = cpu::BetaGaussianBatch;

  [[nodiscard]] static Batch batch(index_t dimension, Values argument, Values log_det, Values alpha) {
    return {dimension, argument, log_det, alpha};
  }
  [[nodiscard]] static index_t count(const Batch& batch) {
    return static_cast<index_t>(batch.log_det.size());
  }
  static void value(BetaGaussianFunction f, const Batch& batch, double* out) {
    cpu::beta_gaussian(f, batch, {out, batch.log_det.size()});
  }
  static void gradient(BetaGaussianFunction f, const Batch& batch, double* out, bool in_alpha) {
    cpu::beta_gaussian_gradient(f, batch, {out, count(batch), 3}, in_alpha);
  }
  static void hessian(BetaGaussianFunction f, const Batch& batch, double* out, bool in_alpha) {
    cpu::beta_gaussian_hessian(f, batch, {out, count(batch), 6}, in_alpha);
  }
  static void directions(Values seeds, index_t dimension, double* out) {
    cpu::draw_directions(seeds, {out, static_cast<index_t>(seeds.size()), dimension});
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("beta_gaussian", TORCH_BOX(&beta_gaussian<Kernels>));
  m.impl("beta_gaussian_gradient", TORCH_BOX(&beta_gaussian_gradient<Kernels>));
  m.impl("beta_gaussian_hessian", TORCH_BOX(&beta_gaussian_hessian<Kernels>));
  m.impl("beta_gaussian_directions", TORCH_BOX(&beta_gaussian_directions<Kernels>));
}

}  // namespace fenchel::ops
