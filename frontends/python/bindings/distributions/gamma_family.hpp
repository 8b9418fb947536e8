#pragma once

#include <nanobind/nanobind.h>

#include <cmath>
#include <new>

#include "bindings/distributions/line_distribution.hpp"
#include "fenchel/core/check.hpp"

namespace fenchel::python {

/// A family of TotalVariation or Sobolev by its sigma, which is the b of f(t) = -|t - mu| / b (triangular),
/// or the root of the sigma2 of f(t) = -(t - mu)^2 / (2 sigma2) (parabola). Only here one becomes the other.
template <class P>
void bind_gamma_family(nb::module_& m, const char* name, const char* where) {
  constexpr bool kTriangular = requires(const P& p) { p.b(); };
  auto family = bind_line_distribution<P>(m, name)
                    .def(
                        "__init__",
                        [where](P* self, double sigma, double gamma, double mu) {
                          detail::checked_positive(where, "sigma", sigma);
                          new (self) P(gamma, mu, kTriangular ? sigma : sigma * sigma);
                        },
                        nb::arg("sigma"), nb::arg("gamma"), nb::arg("mu"))
                    .def_static("from_variance", &P::from_variance)
                    .def_prop_ro("gamma", &P::gamma)
                    .def_prop_ro("mu", &P::mu);
  if constexpr (kTriangular) {
    family.def_static("from_mean_deviation", &P::from_mean_deviation)
        .def_prop_ro("sigma", &P::b)
        .def_prop_ro("b", &P::b);
  } else {
    family.def_prop_ro("sigma", [](const P& p) { return std::sqrt(p.sigma2()); })
        .def_prop_ro("sigma2", &P::sigma2);
  }
}

}  // namespace fenchel::python
