#pragma once

#include <span>
#include <string>

#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/index.hpp"
#include "ops/tensors.hpp"

/// Functions of many beta-Gaussians and their derivatives, in float64, by the Kernels of a device.
namespace fenchel::ops {

/// A float64 tensor as numbers one after the other.
class Numbers {
 public:
  Numbers(const char* name, const Tensor& x, const Tensor& like)
      : tensor_(torch::stable::contiguous(
            checked(name, of_type(name, x, ScalarType::Double, "float64"), like.sizes()))) {}
  [[nodiscard]] std::span<const double> values() const {
    return {static_cast<const double*>(tensor_.const_data_ptr()), static_cast<std::size_t>(tensor_.numel())};
  }

 private:
  Tensor tensor_;
};

/// A tensor of the shape of `like`, and `cols` numbers for each element where that is not 0.
[[nodiscard]] inline Tensor result_like(const Tensor& like, std::int64_t cols) {
  auto shape = shape_of(like);
  if (cols > 0) shape.push_back(cols);
  return torch::stable::new_empty(like, shape, ScalarType::Double);
}

[[nodiscard]] inline double* data_of(const Tensor& x) { return static_cast<double*>(x.mutable_data_ptr()); }

/// The tensor of `cols` numbers for each distribution that body(kernels, function, batch, out) fills.
template <class Kernels, class Body>
Tensor with_batch(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                  const std::string& function, std::int64_t dimension, std::int64_t cols, const Body& body) {
  const Kernels kernels(log_det, alphas, argument);
  const Numbers dets("log_det", log_det, log_det), orders("alphas", alphas, log_det),
      arguments("argument", argument ? *argument : log_det, log_det);
  const Tensor out = result_like(log_det, cols);
  body(kernels, beta_gaussian_function(function),
       Kernels::batch(dimension, argument ? arguments.values() : std::span<const double>(), dets.values(),
                      orders.values()),
       data_of(out));
  return out;
}

template <class Kernels>
Tensor beta_gaussian(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                     std::string function, std::int64_t dimension) {
  return with_batch<Kernels>(
      argument, log_det, alphas, function, dimension, 0,
      [](const Kernels& kernels, auto f, const auto& batch, double* out) { kernels.value(f, batch, out); });
}

template <class Kernels>
Tensor beta_gaussian_gradient(const std::optional<Tensor>& argument, const Tensor& log_det,
                              const Tensor& alphas, std::string function, std::int64_t dimension,
                              bool in_alpha) {
  return with_batch<Kernels>(argument, log_det, alphas, function, dimension, 3,
                             [&](const Kernels& kernels, auto f, const auto& batch, double* out) {
                               kernels.gradient(f, batch, out, in_alpha);
                             });
}

template <class Kernels>
Tensor beta_gaussian_hessian(const std::optional<Tensor>& argument, const Tensor& log_det,
                             const Tensor& alphas, std::string function, std::int64_t dimension,
                             bool in_alpha) {
  return with_batch<Kernels>(argument, log_det, alphas, function, dimension, 6,
                             [&](const Kernels& kernels, auto f, const auto& batch, double* out) {
                               kernels.hessian(f, batch, out, in_alpha);
                             });
}

template <class Kernels>
Tensor beta_gaussian_directions(const Tensor& seeds, std::int64_t dimension) {
  const Kernels kernels(seeds);
  const Numbers numbers("seeds", seeds, seeds);
  const Tensor out = result_like(seeds, dimension);
  kernels.directions(numbers.values(), dimension, data_of(out));
  return out;
}

}  // namespace fenchel::ops
