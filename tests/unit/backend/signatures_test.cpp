#include <gtest/gtest.h>

#include <concepts>
#include <optional>
#include <span>
#include <type_traits>

#include "fenchel/backend/cpu/attention.hpp"
#include "fenchel/backend/cpu/beta_gaussian_batch.hpp"
#include "fenchel/backend/cpu/cached_attention.hpp"
#include "fenchel/backend/cpu/dot_product_attention.hpp"
#include "fenchel/backend/cpu/entmax.hpp"
#include "fenchel/backend/cpu/entmax_derivatives.hpp"
#include "fenchel/backend/cpu/entmax_loss.hpp"
#include "fenchel/backend/cpu/fusedmax.hpp"
#include "fenchel/backend/cpu/match_weights.hpp"
#include "fenchel/backend/cpu/weighted_entmax.hpp"
#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/backend/cuda/beta_gaussian_batch.hpp"
#include "fenchel/backend/cuda/cached_attention.hpp"
#include "fenchel/backend/cuda/dot_product_attention.hpp"
#include "fenchel/backend/cuda/entmax.hpp"
#include "fenchel/backend/cuda/entmax_derivatives.hpp"
#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "fenchel/backend/cuda/fusedmax.hpp"
#include "fenchel/backend/cuda/match_weights.hpp"
#include "fenchel/backend/cuda/weighted_entmax.hpp"

/// Each function of fenchel::cuda is the one of fenchel::cpu, with DeviceRows for Rows and last a Stream:
/// what is compiled here is the test. scripts/check_back_ends sees to it that no function is missing.
namespace fenchel {
namespace {

/// What a GPU takes for what the CPU takes.
template <class T>
struct OnGpu {
  using Type = T;
};
template <class T>
struct OnGpu<const T&> {
  using Type = const typename OnGpu<T>::Type&;
};
template <class T>
struct OnGpu<Rows<T>> {
  using Type = cuda::DeviceRows<T>;
};
template <template <template <class> class, class...> class Views, class... Real>
struct OnGpu<Views<Rows, Real...>> {
  using Type = Views<cuda::DeviceRows, Real...>;
};

template <class Function>
struct Twin;
template <class... Arguments>
struct Twin<void(Arguments...)> {
  using Type = void(typename OnGpu<Arguments>::Type..., cuda::Stream);
};

/// The CPU has a function of this type, and the GPU one of its twin's.
#define FENCHEL_TWINS(name, ...)                                                                 \
  static_assert(                                                                                 \
      requires { static_cast<std::type_identity_t<__VA_ARGS__>*>(&cpu::name); }, "cpu::" #name); \
  static_assert(                                                                                 \
      requires { static_cast<typename Twin<__VA_ARGS__>::Type*>(&cuda::name); }, "cuda::" #name)

template <class Real>
consteval bool has_twins() {
  using In = Rows<const Real>;
  using Out = Rows<Real>;
  using Slopes = std::span<double>;
  using Steps = std::span<const double>;
  FENCHEL_TWINS(entmax<Real>, void(In, PerRow, Out));
  FENCHEL_TWINS(entmax_vjp<Real>, void(In, PerRow, In, Out, Slopes));
  FENCHEL_TWINS(entmax_jvp<Real>, void(In, PerRow, In, Steps, Out));
  FENCHEL_TWINS(entmax_vjp_vjp<Real>, void(In, PerRow, In, In, Steps, Out, Slopes));

  using Soft = const cpu::SoftTargets<Real>&;
  using Outputs = const cpu::LossOutputs<Real>&;
  using Curvature = const cpu::LossCurvature<Real>&;
  FENCHEL_TWINS(entmax_loss<Real>, void(In, PerRow, const ClassTargets&, Outputs));
  FENCHEL_TWINS(entmax_loss<Real>, void(In, PerRow, Soft, Outputs));
  FENCHEL_TWINS(cross_omega<Real>, void(In, PerRow, Soft, Outputs));
  FENCHEL_TWINS(entmax_loss_vjp<Real>, void(In, PerRow, const ClassTargets&, std::span<const Real>, Out));
  FENCHEL_TWINS(entmax_loss_vjp<Real>, void(In, PerRow, Soft, std::span<const Real>, Out));
  FENCHEL_TWINS(entmax_loss_curvature<Real>, void(In, PerRow, const ClassTargets&, Curvature));
  FENCHEL_TWINS(entmax_loss_curvature<Real>, void(In, PerRow, Soft, Curvature));
  FENCHEL_TWINS(cross_omega_curvature<Real>, void(In, PerRow, Soft, Curvature));

  using Nodes = const cpu::NodeDirection<Real>&;
  using NodeSlopes = const cpu::NodeGradient<Real>&;
  using WeightedOutputs = const cpu::WeightedLossOutputs<Real>&;
  using Classes = const ClassTargets&;
  FENCHEL_TWINS(weighted_entmax<Real>, void(In, In, PerRow, Out));
  FENCHEL_TWINS(weighted_entmax_vjp<Real>, void(In, In, PerRow, In, NodeSlopes));
  FENCHEL_TWINS(weighted_entmax_jvp<Real>, void(In, In, PerRow, Nodes, Out));
  FENCHEL_TWINS(weighted_entmax_vjp_vjp<Real>, void(In, In, PerRow, In, Nodes, NodeSlopes));
  FENCHEL_TWINS(weighted_entmax_loss<Real>, void(In, In, PerRow, Classes, WeightedOutputs));
  FENCHEL_TWINS(weighted_entmax_loss<Real>, void(In, In, PerRow, Soft, WeightedOutputs));
  FENCHEL_TWINS(weighted_cross_omega<Real>, void(In, In, PerRow, Classes, WeightedOutputs));
  FENCHEL_TWINS(weighted_cross_omega<Real>, void(In, In, PerRow, Soft, WeightedOutputs));
  FENCHEL_TWINS(weighted_entmax_loss_curvature<Real>, void(In, In, PerRow, Classes, Nodes, NodeSlopes));
  FENCHEL_TWINS(weighted_entmax_loss_curvature<Real>, void(In, In, PerRow, Soft, Nodes, NodeSlopes));
  FENCHEL_TWINS(weighted_cross_omega_curvature<Real>, void(In, In, PerRow, Classes, Nodes, NodeSlopes));
  FENCHEL_TWINS(weighted_cross_omega_curvature<Real>, void(In, In, PerRow, Soft, Nodes, NodeSlopes));

  FENCHEL_TWINS(fusedmax<Real>, void(In, PerRow, Out));
  FENCHEL_TWINS(fusedmax_vjp<Real>, void(In, PerRow, In, Out, Slopes));
  FENCHEL_TWINS(fusedmax_jvp<Real>, void(In, PerRow, In, Steps, Out));

  using P = const cpu::Densities<Real>&;
  using Psi = const cpu::GaussianFunctions&;
  using Gradient = const cpu::DensityTangents<Real>&;
  using Direction = const cpu::DensityTangents<const Real>&;
  using BasisGradient = const cpu::BasisTangents<double>&;
  using BasisDirection = const cpu::BasisTangents<const double>&;
  FENCHEL_TWINS(attend<Real>, void(P, Psi, Out));
  FENCHEL_TWINS(attend_vjp<Real>, void(P, Psi, In, Gradient, BasisGradient));
  FENCHEL_TWINS(attend_jvp<Real>, void(P, Psi, Direction, BasisDirection, Out));
  FENCHEL_TWINS(attend_vjp_vjp<Real>, void(P, Psi, In, Direction, BasisDirection, Gradient, BasisGradient));

  using Positions = const cpu::WeightPositions&;
  using Floor = std::optional<double>;
  FENCHEL_TWINS(match_weights<Real>, void(PerRow, In, Positions, Floor, Gradient));
  FENCHEL_TWINS(match_weights_vjp<Real>, void(PerRow, In, Positions, Floor, Direction, Out, std::span<Real>));
  FENCHEL_TWINS(match_weights_jvp<Real>,
                void(PerRow, In, Positions, Floor, In, std::span<const Real>, Gradient));
  FENCHEL_TWINS(match_weights_vjp_vjp<Real>, void(PerRow, In, Positions, Floor, Direction, In,
                                                  std::span<const Real>, Out, std::span<Real>));

  using Keys = const DotProducts<Real>&;
  using Record = const AttentionRecord<Real>&;
  FENCHEL_TWINS(attention<Real>, void(Keys, Matrices<Real>, Record));
  FENCHEL_TWINS(attention_vjp<Real>,
                void(Keys, Record, Matrices<const Real>, const DotProductGradients<Real, Real>&));
  FENCHEL_TWINS(cached_attention<Real>, void(const CachedDotProducts<Real>&, Matrices<Real>));

  using Batch = const BetaGaussianBatch&;
  FENCHEL_TWINS(beta_gaussian, void(BetaGaussianFunction, Batch, Slopes));
  FENCHEL_TWINS(beta_gaussian_gradient, void(BetaGaussianFunction, Batch, Rows<double>, bool));
  FENCHEL_TWINS(beta_gaussian_hessian, void(BetaGaussianFunction, Batch, Rows<double>, bool));
  FENCHEL_TWINS(draw_directions, void(Steps, Rows<double>));

  static_assert(std::same_as<decltype(cpu::row_sum_error<Real>), decltype(cuda::row_sum_error<Real>)>);
  return true;
}

/// What one back end has alone. Other forms of a function that both have: the CPU's entmax with by-products,
/// its fusedmax with a chain; the GPU's fusedmax with scratch.
[[maybe_unused]] constexpr const char* kOnlyCpu[] = {
    "softmax",
    "sparsemax",
    "entmax_loss_hessian_product",
    "reduce_loss",
    "fusedmax_loss",
    "fusedmax_grid",
    "fusedmax_grid_vjp",
    "fusedmax_grid_jvp",
    "fusedmax_grid_loss",
    "smooth_sparsemax",
    "smooth_sparsemax_vjp",
    "smooth_sparsemax_jvp",
    "smooth_sparsemax_vjp_vjp",
    "smooth_sparsemax_loss",
    "smooth_sparsemax_loss_curvature",
    "attend_context",
    "attend_context_vjp",
    "log_pdf_rows",
    "pdf_rows",
    "cdf_rows",
    "quantile_rows",
    "sample_rows",
};
[[maybe_unused]] constexpr const char* kOnlyCuda[] = {
    "attention_scratch_bytes", "cached_attention_scratch_bytes", "fusedmax_scratch_bytes"};

TEST(Signatures, OfTheGpuAreThoseOfTheCpuAndAStream) {
  EXPECT_TRUE(has_twins<float>());
  EXPECT_TRUE(has_twins<double>());
}

}  // namespace
}  // namespace fenchel
