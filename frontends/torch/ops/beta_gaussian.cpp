#include <torch/csrc/stable/library.h>

#include <string>

#include "ops/flat_tensors.hpp"

/// Functions of many beta-Gaussians and their derivatives, in float64.
namespace fenchel::ops {
namespace {

/// A float64 tensor of the shape of another.
[[nodiscard]] FlatInput doubles(const char* name, const Tensor& x, const Tensor& like) {
  return {name, of_type(name, x, ScalarType::Double, "float64"), shape_of(like), ScalarType::Double};
}

/// The tensor of `cols` numbers for each distribution, of one for each where that is 0, that
/// f(function, batch, out, options...) fills.
template <class F, class... Options>
Tensor with_batch(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                  const std::string& function, std::int64_t dimension, std::int64_t cols, const F& f,
                  Options... options) {
  const Device device(log_det, alphas, argument);
  const FlatInput dets = doubles("log_det", log_det, log_det), orders = doubles("alphas", alphas, log_det),
                  arguments = doubles("argument", argument ? *argument : log_det, log_det);
  const BetaGaussianBatch batch{dimension, argument ? arguments.values<double>() : std::span<const double>(),
                                dets.values<double>(), orders.values<double>()};
  const Shape shape = cols == 0 ? shape_of(log_det) : extended(shape_of(log_det), {cols});
  const FlatOutput out(log_det, shape, ScalarType::Double, ScalarType::Double);
  if constexpr (sizeof...(Options) == 0) {
    device.call(f, beta_gaussian_function(function), batch, out.values<double>());
  } else {
    device.call(f, beta_gaussian_function(function), batch, out.rows<double>(cols), options...);
  }
  return out.tensor();
}

Tensor beta_gaussian(const std::optional<Tensor>& argument, const Tensor& log_det, const Tensor& alphas,
                     std::string function, std::int64_t dimension) {
  return with_batch(argument, log_det, alphas, function, dimension, 0,
                    [](const auto&... a) { backend::beta_gaussian(a...); });
}

Tensor beta_gaussian_gradient(const std::optional<Tensor>& argument, const Tensor& log_det,
                              const Tensor& alphas, std::string function, std::int64_t dimension,
                              bool in_alpha) {
  return with_batch(
      argument, log_det, alphas, function, dimension, 3,
      [](const auto&... a) { backend::beta_gaussian_gradient(a...); }, in_alpha);
}

Tensor beta_gaussian_hessian(const std::optional<Tensor>& argument, const Tensor& log_det,
                             const Tensor& alphas, std::string function, std::int64_t dimension,
                             bool in_alpha) {
  return with_batch(
      argument, log_det, alphas, function, dimension, 6,
      [](const auto&... a) { backend::beta_gaussian_hessian(a...); }, in_alpha);
}

Tensor beta_gaussian_directions(const Tensor& seeds, std::int64_t dimension) {
  const Device device(seeds);
  const FlatInput numbers = doubles("seeds", seeds, seeds);
  const FlatOutput out(seeds, extended(shape_of(seeds), {dimension}), ScalarType::Double, ScalarType::Double);
  device.call([](const auto&... a) { backend::draw_directions(a...); }, numbers.values<double>(),
              out.rows<double>(dimension));
  return out.tensor();
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, FENCHEL_DISPATCH_KEY, m) {
  m.impl("beta_gaussian", TORCH_BOX(&beta_gaussian));
  m.impl("beta_gaussian_gradient", TORCH_BOX(&beta_gaussian_gradient));
  m.impl("beta_gaussian_hessian", TORCH_BOX(&beta_gaussian_hessian));
  m.impl("beta_gaussian_directions", TORCH_BOX(&beta_gaussian_directions));
}

}  // namespace fenchel::ops
