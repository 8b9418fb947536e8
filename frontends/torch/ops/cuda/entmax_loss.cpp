#include "ops/entmax_loss.hpp"

#include <torch/csrc/stable/library.h>

#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "ops/cuda/device.hpp"

namespace fenchel::ops {
namespace {

template <class T>
[[nodiscard]] cuda::Targets<T> view_of(const Targets<Cuda>& targets) {
  cuda::Targets<T> view;
  view.ignored = targets.ignored;
  view.cross = targets.cross;
  if (targets.soft()) {
    view.soft = targets.distributions<T>();
  } else {
    view.classes = targets.classes().data();
  }
  return view;
}

std::tuple<Tensor, Tensor, Tensor> entmax_loss(const Tensor& scores, const std::optional<Tensor>& alphas,
                                               const std::optional<Tensor>& classes,
                                               const std::optional<Tensor>& soft, double alpha,
                                               std::int64_t dim, std::int64_t ignore_index, bool cross,
                                               bool gradient) {
  const auto loss_of = []<class T>(cuda::DeviceRows<const T> z, cuda::PerRow order,
                                   const Targets<Cuda>& targets, std::span<RealOf<T>> losses,
                                   cuda::DeviceRows<RealOf<T>> residual, std::span<double> slope,
                                   cuda::Stream stream) {
    const cuda::LossOutputs<T> outputs{losses.data(), residual, slope.data()};
    cuda::entmax_loss(z, order, view_of<T>(targets), outputs, stream);
  };
  return loss_rows<Cuda>(scores, alphas, classes, soft, alpha, dim, ignore_index, cross, gradient, loss_of);
}

std::tuple<Tensor, Tensor> entmax_loss_curvature(const Tensor& residual, const std::optional<Tensor>& alphas,
                                                 const std::optional<Tensor>& classes,
                                                 const std::optional<Tensor>& soft, const Tensor& d_scores,
                                                 const std::optional<Tensor>& d_alphas, double alpha,
                                                 std::int64_t dim, std::int64_t ignore_index, bool cross) {
  const auto product_of = []<class Real>(cuda::DeviceRows<const Real> rows, cuda::PerRow order,
                                         const Targets<Cuda>& targets, cuda::DeviceRows<const Real> direction,
                                         std::span<const double> d_order, cuda::DeviceRows<Real> product,
                                         std::span<double> product_alphas, cuda::Stream stream) {
    cuda::entmax_loss_curvature<Real>(rows, order, view_of<Real>(targets), direction, d_order.data(), product,
                                      product_alphas.data(), stream);
  };
  return loss_curvature_rows<Cuda>(residual, alphas, classes, soft, d_scores, d_alphas, alpha, dim,
                                   ignore_index, cross, product_of);
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CUDA, m) {
  m.impl("entmax_loss", TORCH_BOX(&entmax_loss));
  m.impl("entmax_loss_curvature", TORCH_BOX(&entmax_loss_curvature));
}

}  // namespace fenchel::ops
