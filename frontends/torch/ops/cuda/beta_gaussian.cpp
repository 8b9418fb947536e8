#include "ops/beta_gaussian.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"
#include "ops/cuda/device.hpp"

namespace fenchel::ops {
namespace {

using Values = std::span<const double>;

struct Kernels : Cuda {
  using Cuda::Cuda;
  using Batch = cuda::BetaGaussianBatch;

  [[nodiscard]] static Batch batch(index_t dimension, Values argument, Values log_det, Values alpha) {
    return {dimension, static_cast<index_t>(log_det.size()), argument.data(), log_det.data(), alpha.data()};
  }
  void value(BetaGaussianFunction f, const Batch& batch, double* out) const {
    cuda::beta_gaussian(f, batch, out, stream());
  }
  void gradient(BetaGaussianFunction f, const Batch& batch, double* out, bool in_alpha) const {
    cuda::beta_gaussian_gradient(f, batch, out, in_alpha, stream());
  }
  void hessian(BetaGaussianFunction f, const Batch& batch, double* out, bool in_alpha) const {
    cuda::beta_gaussian_hessian(f, batch, out, in_alpha, stream());
  }
  void directions(Values seeds, index_t dimension, double* out) const {
    cuda::draw_directions(seeds.data(), static_cast<index_t>(seeds.size()), dimension, out, stream());
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("beta_gaussian", TORCH_BOX(&beta_gaussian<Kernels>));
  m.impl("beta_gaussian_gradient", TORCH_BOX(&beta_gaussian_gradient<Kernels>));
  m.impl("beta_gaussian_hessian", TORCH_BOX(&beta_gaussian_hessian<Kernels>));
  m.impl("beta_gaussian_directions", TORCH_BOX(&beta_gaussian_directions<Kernels>));
}

}  // namespace fenchel::ops
