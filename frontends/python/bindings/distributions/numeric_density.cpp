#include "fenchel/distribution/line/numeric_density.hpp"

#include <new>

#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation_function.hpp"
#include "fenchel/score/function_score.hpp"

namespace fenchel::python {
namespace {

/// The object in Python keeps f as an attribute, where the garbage collector sees it.
template <class Omega>
void bind_prediction(nb::class_<NumericDensity>& family) {
  family.def("__init__", [](nb::pointer_and_handle<NumericDensity> self, const Omega& omega,
                            const Function& f, const Interval& domain) {
    new (self.p) NumericDensity(predict(omega, FunctionScore(PythonFunction("f", f)), domain));
    self.h.attr("f") = f;
  });
}

}  // namespace

void bind_numeric_density(nb::module_& m) {
  auto family = bind_line_distribution<NumericDensity>(m, "NumericDensity", nb::dynamic_attr());
  bind_prediction<Tsallis>(family);
  bind_prediction<TotalVariation>(family);
  bind_prediction<Sobolev>(family);
}

}  // namespace fenchel::python
