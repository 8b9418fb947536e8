#include "fenchel/distribution/line/numeric_density.hpp"

#include <nanobind/stl/pair.h>
#include <nanobind/stl/vector.h>

#include <new>
#include <utility>
#include <vector>

#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/regularizer/tsallis.hpp"
#include "fenchel/score/function_score.hpp"

namespace fenchel::python {

/// The object in Python keeps f as an attribute, where the garbage collector sees it.
void bind_numeric_density(nb::module_& m) {
  bind_line_distribution<NumericDensity>(m, "NumericDensity", nb::dynamic_attr())
      .def("__init__",
           [](nb::pointer_and_handle<NumericDensity> self, double alpha, const Function& f, double a,
              double b) {
             new (self.p) NumericDensity(
                 predict(Tsallis(alpha), FunctionScore(PythonFunction("f", f)), Interval(a, b)));
             self.h.attr("f") = f;
           })
      .def("pieces", [](const NumericDensity& p) {
        std::vector<std::pair<double, double>> pieces;
        for (const Interval& piece : p.support()) pieces.push_back(ends(piece));
        return pieces;
      });
}

}  // namespace fenchel::python
