#include "ops/match_weights.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cpu/match_weights.hpp"
#include "ops/cpu.hpp"

namespace fenchel::ops {
namespace {

/// mu and Sigma of densities, which lie in one row.
template <class Real>
[[nodiscard]] cpu::DensityTangents<Real> parts_of(Rows<Real> density, index_t dimension) {
  return {{density.data, density.rows, dimension, density.stride},
          {density.data + dimension, density.rows, dimension * dimension, density.stride}};
}

struct Kernels : Cpu {
  using Cpu::Cpu;

  class DensityInput {
   public:
    DensityInput(const Tensor& x, const Shape& batch, index_t dimension, ScalarType type)
        : dimension_(dimension),
          tensor_("grad_density", x, extended(batch, {dimension + dimension * dimension}), type) {}
    template <class Real>
    [[nodiscard]] cpu::DensityTangents<const Real> parts() const {
      return parts_of(tensor_.rows<Real>(dimension_ + dimension_ * dimension_), dimension_);
    }

   private:
    index_t dimension_;
    FlatInput tensor_;
  };

  class DensityOutput {
   public:
    DensityOutput(const Tensor& like, const Shape& batch, index_t dimension, ScalarType type)
        : dimension_(dimension),
          tensor_(like, extended(batch, {dimension + dimension * dimension}), type, like.scalar_type()) {}
    template <class Real>
    [[nodiscard]] cpu::DensityTangents<Real> parts() const {
      return parts_of(tensor_.rows<Real>(dimension_ + dimension_ * dimension_), dimension_);
    }
    [[nodiscard]] Tensor tensor() const { return tensor_.tensor(); }

   private:
    index_t dimension_;
    FlatOutput tensor_;
  };

  [[nodiscard]] static cpu::WeightPositions positions(Rows<const double> points,
                                                      std::span<const index_t> lengths) {
    return {points, lengths};
  }
  template <class Real>
  static void match(Rows<const Real> weights, const cpu::WeightPositions& positions, PerRow alpha,
                    std::optional<double> floor, const cpu::DensityTangents<Real>& density) {
    cpu::match_weights(weights, positions, alpha, floor, density.mu, density.scale);
  }
  static void match_vjp(const auto&... arguments) { cpu::match_weights_vjp(arguments...); }
  template <class Real>
  static void match_jvp(Rows<const Real> weights, const cpu::WeightPositions& positions, PerRow alpha,
                        std::optional<double> floor, Rows<const Real> direction,
                        std::span<const Real> alpha_direction, const cpu::DensityTangents<Real>& moved) {
    cpu::match_weights_jvp(weights, positions, alpha, floor, direction, alpha_direction, moved.mu,
                           moved.scale);
  }
  static void match_vjp_vjp(const auto&... arguments) { cpu::match_weights_vjp_vjp(arguments...); }
};

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("match_weights", TORCH_BOX(&match_weights<Kernels>));
  m.impl("match_weights_vjp", TORCH_BOX(&match_weights_vjp<Kernels>));
  m.impl("match_weights_jvp", TORCH_BOX(&match_weights_jvp<Kernels>));
  m.impl("match_weights_vjp_vjp", TORCH_BOX(&match_weights_vjp_vjp<Kernels>));
}

}  // namespace fenchel::ops
