#pragma once

#include <tuple>

#include "ops/device.hpp"

/// The operations of a map from scores to probabilities p that has a parameter, and of its derivatives, which
/// are functions of p. `name` is of the parameters that vary
/// by row. What is returned for parameters that vary by row is empty where there are none.
namespace fenchel::ops {

/// map(scores, parameter, p)
template <class Map>
Tensor row_map(const char* name, const Tensor& scores, const std::optional<Tensor>& parameters, double shared,
               std::int64_t dim, const Map& map) {
  const Device device = Device::of_rows(scores, parameters);
  const ScalarType type = Device::type_of("scores", scores);
  const Device::Input z("scores", scores, dim, type);
  const OutputRows p(scores, dim, type);
  const Parameter parameter(name, shared, parameters, scores, dim);
  if (scores.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      device.call(map, z.template rows<T>(), parameter.per_row(), p.template rows<T>());
    });
  }
  return p.tensor();
}

/// vjp(p, parameter, grad_p, grad_scores, grad_parameters)
template <class Vjp>
std::tuple<Tensor, Tensor> row_map_vjp(const char* name, const Tensor& p,
                                       const std::optional<Tensor>& parameters, const Tensor& grad_p,
                                       double shared, std::int64_t dim, const Vjp& vjp) {
  const Device device = Device::of_rows(p, parameters, grad_p);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input prediction("p", p, dim, type), cotangent("grad_p", grad_p, p, dim, type);
  const OutputRows grad_scores(p, dim, type);
  const Parameter parameter(name, shared, parameters, p, dim);
  const OutputPerRow grad_parameters(parameters, p, dim);
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      device.call(vjp, prediction.template rows<T>(), parameter.per_row(), cotangent.template rows<T>(),
                  grad_scores.template rows<T>(), grad_parameters.values());
    });
  }
  return {grad_scores.tensor(), grad_parameters.tensor()};
}

/// jvp(p, parameter, d_scores, d_parameters, d_p)
template <class Jvp>
Tensor row_map_jvp(const char* name, const Tensor& p, const std::optional<Tensor>& parameters,
                   const Tensor& d_scores, const std::optional<Tensor>& d_parameters, double shared,
                   std::int64_t dim, const Jvp& jvp) {
  const Device device = Device::of_rows(p, parameters, d_scores, d_parameters);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input prediction("p", p, dim, type), direction("d_scores", d_scores, p, dim, type);
  const OutputRows d_p(p, dim, type);
  const Parameter parameter(name, shared, parameters, p, dim);
  const InputPerRow moved((std::string("d_") + name).c_str(), d_parameters, p, dim);
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      device.call(jvp, prediction.template rows<T>(), parameter.per_row(), direction.template rows<T>(),
                  moved.values(), d_p.template rows<T>());
    });
  }
  return d_p.tensor();
}

/// second(p, parameter, grad_p, weight_scores, weight_parameters, grad_scores, grad_parameters)
template <class Second>
std::tuple<Tensor, Tensor> row_map_vjp_vjp(const char* name, const Tensor& p,
                                           const std::optional<Tensor>& parameters, const Tensor& grad_p,
                                           const Tensor& weight_scores,
                                           const std::optional<Tensor>& weight_parameters, double shared,
                                           std::int64_t dim, const Second& second) {
  const Device device = Device::of_rows(p, parameters, grad_p, weight_scores, weight_parameters);
  const ScalarType type = Device::type_of("p", p);
  const Device::Input prediction("p", p, dim, type), cotangent("grad_p", grad_p, p, dim, type),
      weight("weight_scores", weight_scores, p, dim, type);
  const OutputRows grad_scores(p, dim, type);
  const Parameter parameter(name, shared, parameters, p, dim);
  const InputPerRow moved((std::string("weight_") + name).c_str(), weight_parameters, p, dim);
  const OutputPerRow grad_parameters(parameters, p, dim);
  if (p.numel() > 0) {
    Device::visit(type, [&]<class T>(T) {
      device.call(second, prediction.template rows<T>(), parameter.per_row(), cotangent.template rows<T>(),
                  weight.template rows<T>(), moved.values(), grad_scores.template rows<T>(),
                  grad_parameters.values());
    });
  }
  return {grad_scores.tensor(), grad_parameters.tensor()};
}

}  // namespace fenchel::ops
