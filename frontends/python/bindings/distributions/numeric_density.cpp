#include "fenchel/distribution/line/numeric_density.hpp"

#include <nanobind/stl/vector.h>

#include <new>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/line_distribution.hpp"
#include "bindings/python_function.hpp"
#include "bindings/score.hpp"
#include "fenchel/domain/interval.hpp"
#include "fenchel/predict/function.hpp"
#include "fenchel/predict/sobolev_function.hpp"
#include "fenchel/predict/total_variation_function.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/parametric_score.hpp"

namespace fenchel::python {
namespace {

/// The object in Python keeps f as an attribute, where the garbage collector sees it.
template <class Omega, class Score>
void bind_prediction(nb::class_<NumericDensity>& family) {
  family.def("__init__", [](nb::pointer_and_handle<NumericDensity> self, const Omega& omega, const Score& f,
                            const Interval& domain) {
    new (self.p) NumericDensity(predict(omega, as_score(f), domain));
    self.h.attr("f") = nb::find(f);
  });
}

}  // namespace

void bind_numeric_density(nb::module_& m) {
  auto family = bind_line_distribution<NumericDensity>(m, "NumericDensity", nb::dynamic_attr());
  nb::class_<LinearScore>(m, "LinearScore", nb::dynamic_attr())
      .def("__init__",
           [](nb::pointer_and_handle<LinearScore> self, std::vector<double> theta, const FunctionList& phi) {
             new (self.p) LinearScore(std::move(theta), python_functions("phi", phi));
             self.h.attr("phi") = phi;
           })
      .def("theta", [](const LinearScore& f) { return copy_to_array(f.theta()); })
      .def("value", [](const LinearScore& f, double t) { return f(t); });
  // Of functions of t alone: Python has put theta into them.
  nb::class_<ParametricScore>(m, "ParametricScore", nb::dynamic_attr())
      .def("__init__", [](nb::pointer_and_handle<ParametricScore> self, std::vector<double> theta,
                          const Function& f, const FunctionList& gradient) {
        std::vector<ParametricScore::Function> slopes;
        for (const auto& slope : python_functions("gradient", gradient))
          slopes.emplace_back([slope](double t, std::span<const double>) { return slope(t); });
        const PythonFunction value("f", f);
        new (self.p) ParametricScore(
            std::move(theta), [value](double t, std::span<const double>) { return value(t); },
            std::move(slopes));
        self.h.attr("f") = f;
        self.h.attr("gradient") = gradient;
      });
  const auto bind = [&family]<class Score>(std::type_identity<Score>) {
    bind_prediction<Tsallis, Score>(family);
    bind_prediction<TotalVariation, Score>(family);
    bind_prediction<Sobolev, Score>(family);
  };
  bind(std::type_identity<LinearScore>());
  bind(std::type_identity<ParametricScore>());
  bind(std::type_identity<Function>());
  family.def("error", &NumericDensity::error);
}

}  // namespace fenchel::python
