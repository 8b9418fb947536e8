#pragma once

#include <tuple>

#include "ops/row_tensors.hpp"
#include "ops/torch_pool.hpp"

/// The operations of a map from scores to probabilities p that has a parameter, and of its derivatives, which
/// are functions of p. `name` is of the parameters that vary by row. What is returned for parameters that
/// vary by row is empty where there are none.
namespace fenchel::ops {

/// map(scores, parameter, p)
template <class Map>
Tensor row_map(const char* name, const Tensor& scores, const std::optional<Tensor>& parameters, double shared,
               std::int64_t dim, const Map& map) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("scores", scores);
  const InputRows z("scores", scores, dim, type);
  const OutputRows p(scores, dim, type);
  const Parameter parameter(name, shared, parameters, scores, dim);
  if (scores.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) { map(z.rows<Real>(), parameter.per_row(), p.rows<Real>()); });
  }
  return p.tensor();
}

/// vjp(p, parameter, grad_p, grad_scores, grad_parameters)
template <class Vjp>
std::tuple<Tensor, Tensor> row_map_vjp(const char* name, const Tensor& p,
                                       const std::optional<Tensor>& parameters, const Tensor& grad_p,
                                       double shared, std::int64_t dim, const Vjp& vjp) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("p", p);
  const InputRows prediction("p", p, dim, type), cotangent("grad_p", grad_p, p, dim, type);
  const OutputRows grad_scores(p, dim, type);
  const Parameter parameter(name, shared, parameters, p, dim);
  const OutputPerRow grad_parameters(parameters, p, dim);
  if (p.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      vjp(prediction.rows<Real>(), parameter.per_row(), cotangent.rows<Real>(), grad_scores.rows<Real>(),
          grad_parameters.values());
    });
  }
  return {grad_scores.tensor(), grad_parameters.tensor()};
}

/// jvp(p, parameter, d_scores, d_p, d_parameters)
template <class Jvp>
Tensor row_map_jvp(const char* name, const Tensor& p, const std::optional<Tensor>& parameters,
                   const Tensor& d_scores, const std::optional<Tensor>& d_parameters, double shared,
                   std::int64_t dim, const Jvp& jvp) {
  const ScopedThreadPool pool(torch_pool());
  const ScalarType type = computed_in("p", p);
  const InputRows prediction("p", p, dim, type), direction("d_scores", d_scores, p, dim, type);
  const OutputRows d_p(p, dim, type);
  const Parameter parameter(name, shared, parameters, p, dim);
  const InputPerRow moved((std::string("d_") + name).c_str(), d_parameters, p, dim);
  if (p.numel() > 0) {
    visit_real(type, [&]<class Real>(Real) {
      jvp(prediction.rows<Real>(), parameter.per_row(), direction.rows<Real>(), d_p.rows<Real>(),
          moved.values());
    });
  }
  return d_p.tensor();
}

}  // namespace fenchel::ops
