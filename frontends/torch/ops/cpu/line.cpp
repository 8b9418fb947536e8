#include <torch/csrc/stable/library.h>

#include <string>
#include <tuple>

#include "fenchel/loss/line_batch.hpp"
#include "ops/flat_tensors.hpp"

/// Functions of many members of a family on the line and their derivatives, in float64.
namespace fenchel::ops {
namespace {

/// A float64 tensor of the shape of another.
[[nodiscard]] FlatInput doubles(const char* name, const Tensor& x, const Tensor& like) {
  return {name, of_type(name, x, ScalarType::Double, "float64"), shape_of(like), ScalarType::Double};
}

/// f(family, function, batch)
template <class F>
void with_batch(const std::optional<Tensor>& x, const Tensor& shape, const Tensor& scale,
                const std::string& family, const std::string& function, const F& f) {
  const Device device(shape, scale, x);
  const FlatInput at = doubles("x", x ? *x : shape, shape), shapes = doubles("shape", shape, shape),
                  scales = doubles("scale", scale, shape);
  f(line_family(family), line_statistic(function),
    LineBatch{x ? at.values<double>() : std::span<const double>(), shapes.values<double>(),
              scales.values<double>()});
}

Tensor line(const std::optional<Tensor>& x, const Tensor& shape, const Tensor& scale, std::string family,
            std::string function) {
  const FlatOutput out(shape, shape_of(shape), ScalarType::Double, ScalarType::Double);
  with_batch(x, shape, scale, family, function,
             [&](const auto&... a) { line_batch(a..., out.values<double>()); });
  return out.tensor();
}

Tensor line_gradient(const std::optional<Tensor>& x, const Tensor& shape, const Tensor& scale,
                     std::string family, std::string function) {
  const FlatOutput out(shape, extended(shape_of(shape), {3}), ScalarType::Double, ScalarType::Double);
  with_batch(x, shape, scale, family, function,
             [&](const auto&... a) { line_batch_gradient(a..., out.rows<double>(3)); });
  return out.tensor();
}

std::tuple<Tensor, Tensor> line_fenchel_young(const Tensor& mu, const Tensor& shape, const Tensor& scale,
                                              const Tensor& target_mu, const Tensor& target_shape,
                                              const Tensor& target_scale, std::string family) {
  const Device device(mu, shape, scale, target_mu, target_shape, target_scale);
  const FlatInput at = doubles("mu", mu, mu), shapes = doubles("shape", shape, mu),
                  scales = doubles("scale", scale, mu), target_at = doubles("target_mu", target_mu, mu),
                  target_shapes = doubles("target_shape", target_shape, mu),
                  target_scales = doubles("target_scale", target_scale, mu);
  const FlatOutput value(mu, shape_of(mu), ScalarType::Double, ScalarType::Double),
      gradient(mu, extended(shape_of(mu), {3}), ScalarType::Double, ScalarType::Double);
  line_batch_fenchel_young(
      line_family(family), {at.values<double>(), shapes.values<double>(), scales.values<double>()},
      {target_at.values<double>(), target_shapes.values<double>(), target_scales.values<double>()},
      value.values<double>(), gradient.rows<double>(3));
  return {value.tensor(), gradient.tensor()};
}

}  // namespace

STABLE_TORCH_LIBRARY_IMPL(fenchel, CPU, m) {
  m.impl("line", TORCH_BOX(&line));
  m.impl("line_fenchel_young", TORCH_BOX(&line_fenchel_young));
  m.impl("line_gradient", TORCH_BOX(&line_gradient));
}

}  // namespace fenchel::ops
