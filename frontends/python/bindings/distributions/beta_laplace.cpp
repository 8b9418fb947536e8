#include "fenchel/distribution/line/beta_laplace.hpp"

#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"

namespace fenchel::python {

void bind_beta_laplace(nb::module_& m) {
  bind_line_distribution<BetaLaplace>(m, "BetaLaplace")
      .def(nb::init<double, double, double>(), nb::arg("alpha"), nb::arg("mu"), nb::arg("b"))
      .def_static("from_variance", &BetaLaplace::from_variance)
      .def_static("from_mean_deviation", &BetaLaplace::from_mean_deviation)
      .def_static("from_half_width", &BetaLaplace::from_half_width)
      .def_prop_ro("alpha", &BetaLaplace::alpha)
      .def_prop_ro("mu", &BetaLaplace::mu)
      .def_prop_ro("b", &BetaLaplace::b);
}

}  // namespace fenchel::python
