#include <torch/csrc/stable/library.h>

#include <string>

#include "fenchel/backend/beta_gaussian_batch.hpp"
#include "ops/row_tensors.hpp"
#include "ops/torch_pool.hpp"

/// Functions of many beta-Gaussians and their derivatives, in float64.
namespace fenchel::ops {
namespace {

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

double* data_of(const Tensor& x) { return static_cast<double*>(x.mutable_data_ptr()); }

/// A tensor of the shape of `like`, and `cols` numbers for each element where that is not 0.
Tensor result_like(const Tensor& like, std::int64_t cols) {
  auto shape = shape_of(like);
  if (cols > 0) shape.push_back(cols);
  return torch::stable::new_empty(like, shape, ScalarType::Double);
}

/// Calls body(function, batch).
template <class Body>
void with_batch(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                const std::string& function, std::int64_t dimension, const Body& body) {
  const ScopedThreadPool pool(torch_pool());
  const Numbers dets("log_det", log_det, log_det), orders("alphas", alphas, log_det),
      arguments("argument", argument ? *argument : log_det, log_det);
  body(beta_gaussian_function(function),
       cpu::BetaGaussianBatch{dimension, argument ? arguments.values() : std::span<const double>(),
                              dets.values(), orders.values()});
}

Tensor beta_gaussian(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                     std::string function, std::int64_t dimension) {
  Tensor out = result_like(log_det, 0);
  with_batch(argument, log_det, alphas, function, dimension, [&](auto f, const auto& batch) {
    cpu::beta_gaussian(f, batch, {data_of(out), static_cast<std::size_t>(out.numel())});
  });
  return out;
}

Tensor beta_gaussian_gradient(const std::optional<Tensor>& argument, const Tensor& log_det,
                              const Tensor& alphas, std::string function, std::int64_t dimension,
                              bool in_alpha) {
  Tensor out = result_like(log_det, 3);
  with_batch(argument, log_det, alphas, function, dimension, [&](auto f, const auto& batch) {
    cpu::beta_gaussian_gradient(f, batch, {data_of(out), log_det.numel(), 3}, in_alpha);
  });
  return out;
}

Tensor beta_gaussian_hessian(const std::optional<Tensor>& argument, const Tensor& log_det,
                             const Tensor& alphas, std::string function, std::int64_t dimension,
                             bool in_alpha) {
  Tensor out = result_like(log_det, 6);
  with_batch(argument, log_det, alphas, function, dimension, [&](auto f, const auto& batch) {
    cpu::beta_gaussian_hessian(f, batch, {data_of(out), log_det.numel(), 6}, in_alpha);
  });
  return out;
}

Tensor beta_gaussian_directions(const Tensor& seeds, std::int64_t dimension) {
  const ScopedThreadPool pool(torch_pool());
  const Numbers numbers("seeds", seeds, seeds);
  Tensor out = result_like(seeds, dimension);
  cpu::draw_directions(numbers.values(), {data_of(out), seeds.numel(), dimension});
  return out;
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("beta_gaussian", TORCH_BOX(&beta_gaussian));
  m.impl("beta_gaussian_gradient", TORCH_BOX(&beta_gaussian_gradient));
  m.impl("beta_gaussian_hessian", TORCH_BOX(&beta_gaussian_hessian));
  m.impl("beta_gaussian_directions", TORCH_BOX(&beta_gaussian_directions));
}

}  // namespace fenchel::ops
