#include "fenchel/distribution/line/location_scale.hpp"

#include <new>

#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/score/location_scale_score.hpp"

namespace fenchel::python {

/// The object in Python keeps g and its derivative as attributes, where the garbage collector sees them.
void bind_location_scale(nb::module_& m) {
  bind_line_distribution<LocationScale>(m, "LocationScale", nb::dynamic_attr())
      .def("__init__",
           [](nb::pointer_and_handle<LocationScale> self, const Function& g, const Function& slope, double mu,
              double sigma) {
             new (self.p) LocationScale(
                 LocationScaleScore(PythonFunction("g", g), PythonFunction("slope", slope), mu, sigma));
             self.h.attr("g") = g;
             self.h.attr("slope") = slope;
           })
      .def_prop_ro("mu", &LocationScale::mu)
      .def_prop_ro("sigma", &LocationScale::sigma)
      .def("threshold", &LocationScale::threshold);
}

}  // namespace fenchel::python
