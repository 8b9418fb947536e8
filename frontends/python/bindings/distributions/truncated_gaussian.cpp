#include "fenchel/distribution/line/truncated_gaussian.hpp"

#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"

namespace fenchel::python {

void bind_truncated_gaussian(nb::module_& m) {
  bind_line_distribution<TruncatedGaussian>(m, "TruncatedGaussian")
      .def(nb::init<double, double, double>(), nb::arg("kappa"), nb::arg("mu"), nb::arg("sigma2"))
      .def_prop_ro("kappa", &TruncatedGaussian::kappa)
      .def_prop_ro("mu", &TruncatedGaussian::mu)
      .def_prop_ro("sigma2", &TruncatedGaussian::sigma2);
}

}  // namespace fenchel::python
