#pragma once

#include <nanobind/eigen/dense.h>
#include <nanobind/nanobind.h>
#include <nanobind/stl/array.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "bindings/distributions/loss.hpp"
#include "bindings/gil.hpp"
#include "fenchel/distribution/euclidean/multivariate_beta_gaussian.hpp"

namespace fenchel::python {

/// Derivatives in parameters with names have them.
template <class T>
[[nodiscard]] auto to_result(T value) {
  if constexpr (requires { value.mu; })
    return named_gradient(value);
  else
    return value;
}
[[nodiscard]] inline auto to_result(CanonicalParameters theta) {
  return std::pair(std::move(theta.linear), std::move(theta.quadratic));
}

/// What C++ knows of the score of p, a prediction of `omega(p)` on `domain(p)`, without a target: Omega*(f),
/// the normaliser with its derivatives, and the Hessian of the losses.
template <class P, class Omega>
void bind_score_functions(nb::class_<P>& family, const Omega& omega) {
#define FENCHEL_BIND(function)                                                                   \
  if constexpr (requires(const P& p) { function(omega(p), score(p), domain(p)); })               \
    family.def(#function, [omega](const P& p) {                                                  \
      return to_result(without_gil<P>([&] { return function(omega(p), score(p), domain(p)); })); \
    });
  FENCHEL_BIND(conjugate)
  FENCHEL_BIND(normalizer)
  FENCHEL_BIND(normalizer_gradient)
  FENCHEL_BIND(normalizer_hessian)
  FENCHEL_BIND(fenchel_young_hessian)
#undef FENCHEL_BIND
}

}  // namespace fenchel::python
