#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <utility>

#include "fenchel/loss/loss.hpp"

namespace fenchel::python {

namespace nb = nanobind;

/// Numbers; that of theta, the parameters of a LinearScore, is a list.
using Gradient = nb::typed<nb::dict, nb::str, nb::any>;

/// Derivatives by the names that C++ gives the parameters.
template <class G>
[[nodiscard]] Gradient named_gradient(const G& g) {
  nb::dict named;
  if constexpr (requires { g.alpha; }) named["alpha"] = g.alpha;
  if constexpr (requires { g.kappa; }) named["kappa"] = g.kappa;
  if constexpr (requires { g.mu; }) named["mu"] = g.mu;
  if constexpr (requires { g.log_mu; }) named["log_mu"] = g.log_mu;
  if constexpr (requires { g.sigma2; }) named["sigma2"] = g.sigma2;
  if constexpr (requires { g.b; }) named["b"] = g.b;
  if constexpr (requires { g.sigma; }) named["sigma"] = g.sigma;
  if constexpr (requires { g.gamma; }) named["gamma"] = g.gamma;
  if constexpr (requires { g.theta; }) named["theta"] = g.theta;
  return Gradient(named);
}

/// Value and gradient of a loss.
template <class G>
[[nodiscard]] std::pair<double, Gradient> to_python(const Loss<G>& loss) {
  return {loss.value, named_gradient(loss.gradient)};
}

}  // namespace fenchel::python
