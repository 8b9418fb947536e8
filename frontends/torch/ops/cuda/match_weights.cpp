#include "ops/match_weights.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cuda/match_weights.hpp"
#include "ops/cuda/device.hpp"

namespace fenchel::ops {
namespace {

/// One part of densities that lie in one row.
[[nodiscard]] Tensor part_of(Tensor density, index_t begin, index_t size) {
  return torch::stable::narrow(density, -1, begin, size);
}

template <class Real>
[[nodiscard]] cuda::DeviceRows<Real> on_device(Rows<Real> rows) {
  return {rows.data, rows.rows, rows.cols};
}

struct Kernels : Cuda {
  using Cuda::Cuda;

  /// mu and Sigma one after the other, as the library takes them.
  class DensityInput {
   public:
    DensityInput(const Tensor& x, const Shape& batch, index_t dimension, ScalarType type)
        : rows_(converted("grad_density",
                          checked("grad_density", x, extended(batch, {dimension + dimension * dimension})),
                          type)),
          mu_(torch::stable::contiguous(part_of(rows_, 0, dimension))),
          scale_(torch::stable::contiguous(part_of(rows_, dimension, dimension * dimension))) {}
    template <class Real>
    [[nodiscard]] cuda::DensityTangents<const Real> parts() const {
      return {static_cast<const Real*>(mu_.const_data_ptr()),
              static_cast<const Real*>(scale_.const_data_ptr())};
    }

   private:
    Tensor rows_, mu_, scale_;
  };

  class DensityOutput {
   public:
    DensityOutput(const Tensor& like, const Shape& batch, index_t dimension, ScalarType type)
        : stored_(torch::stable::new_empty(like, extended(batch, {dimension + dimension * dimension}))),
          mu_(torch::stable::new_empty(like, extended(batch, {dimension}), type)),
          scale_(torch::stable::new_empty(like, extended(batch, {dimension * dimension}), type)) {}
    template <class Real>
    [[nodiscard]] cuda::DensityTangents<Real> parts() const {
      return {static_cast<Real*>(mu_.mutable_data_ptr()), static_cast<Real*>(scale_.mutable_data_ptr())};
    }
    [[nodiscard]] Tensor tensor() const {
      const index_t dimension = mu_.size(-1);
      Tensor first = part_of(stored_, 0, dimension), second = part_of(stored_, dimension, scale_.size(-1));
      torch::stable::copy_(first, mu_);
      torch::stable::copy_(second, scale_);
      return stored_;
    }

   private:
    Tensor stored_, mu_, scale_;
  };

  [[nodiscard]] static cuda::WeightPositions positions(Rows<const double> points,
                                                       std::span<const index_t> lengths) {
    return {points.data, points.data == nullptr ? 1 : points.cols, lengths.data()};
  }
  template <class Real>
  void match(Rows<const Real> weights, const cuda::WeightPositions& positions, PerRow alpha,
             std::optional<double> floor, const cuda::DensityTangents<Real>& density) const {
    cuda::match_weights<Real>(on_device(weights), positions, alpha, floor, density, stream());
  }
  template <class Real>
  void match_vjp(Rows<const Real> weights, const cuda::WeightPositions& positions, PerRow alpha,
                 std::optional<double> floor, const cuda::DensityTangents<const Real>& cotangent,
                 Rows<Real> gradient, std::span<Real> alpha_gradient) const {
    cuda::match_weights_vjp<Real>(on_device(weights), positions, alpha, floor, cotangent, on_device(gradient),
                                  alpha_gradient.data(), stream());
  }
  template <class Real>
  void match_jvp(Rows<const Real> weights, const cuda::WeightPositions& positions, PerRow alpha,
                 std::optional<double> floor, Rows<const Real> direction,
                 std::span<const Real> alpha_direction, const cuda::DensityTangents<Real>& moved) const {
    cuda::match_weights_jvp<Real>(on_device(weights), positions, alpha, floor, on_device(direction),
                                  alpha_direction.data(), moved, stream());
  }
  template <class Real>
  void match_vjp_vjp(Rows<const Real> weights, const cuda::WeightPositions& positions, PerRow alpha,
                     std::optional<double> floor, const cuda::DensityTangents<const Real>& cotangent,
                     Rows<const Real> direction, std::span<const Real> alpha_direction, Rows<Real> product,
                     std::span<Real> alpha_product) const {
    cuda::match_weights_vjp_vjp<Real>(on_device(weights), positions, alpha, floor, cotangent,
                                      on_device(direction), alpha_direction.data(), on_device(product),
                                      alpha_product.data(), stream());
  }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("match_weights", TORCH_BOX(&match_weights<Kernels>));
  m.impl("match_weights_vjp", TORCH_BOX(&match_weights_vjp<Kernels>));
  m.impl("match_weights_jvp", TORCH_BOX(&match_weights_jvp<Kernels>));
  m.impl("match_weights_vjp_vjp", TORCH_BOX(&match_weights_vjp_vjp<Kernels>));
}

}  // namespace fenchel::ops
