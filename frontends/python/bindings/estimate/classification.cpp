#include "fenchel/estimate/regression/classification.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstddef>
#include <new>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/estimate/estimators.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/loss/probabilities.hpp"

namespace fenchel::python {
namespace {

Output<> probabilities_of(const ClassificationFit& fit, const InputRows& x) {
  const Rows<const double> rows = rows_of(x);
  const index_t classes = fit.intercepts.size();
  std::vector<double> p(static_cast<std::size_t>(rows.rows * classes));
  {
    const WithoutGil released;
    probabilities(fit, rows, {p.data(), rows.rows, classes});
  }
  return to_array(std::move(p), {static_cast<std::size_t>(rows.rows), static_cast<std::size_t>(classes)});
}

Output<> probability_losses(const InputRows& p, const Input<index_t>& classes, double alpha) {
  const Rows<const double> rows = rows_of(p);
  return to_array(without_gil([&] {
    std::vector<double> losses(static_cast<std::size_t>(rows.rows));
    probability_loss(rows, {.classes = {classes.data(), classes.size()}}, alpha, losses);
    return losses;
  }));
}

}  // namespace

void bind_classification(nb::module_& m) {
  nb::class_<ClassificationFit> fit(m, "ClassificationFit");
  fit.def(
         "__init__",
         [](ClassificationFit* made, double alpha, const InputRows& coefficients, const Input<>& intercepts) {
           ClassificationFit parts{};
           parts.alpha = alpha;
           parts.coefficients = matrix_of(coefficients);
           parts.intercepts = vector_of(intercepts);
           if (parts.coefficients.rows() != parts.intercepts.size())
             throw_invalid_argument("classification_fit", "intercepts", "must be one for each class",
                                    shortest(parts.intercepts.size()));
           new (made) ClassificationFit(std::move(parts));
         },
         "What predictions need, of a fit made before.")
      .def_prop_ro(
          "coefficients", [](const ClassificationFit& f) { return matrix_to_array(f.coefficients); },
          nb::rv_policy::move)
      .def_prop_ro(
          "intercepts", [](const ClassificationFit& f) { return vector_to_array(f.intercepts); },
          nb::rv_policy::move)
      .def("probabilities", &probabilities_of);
  bind_search<ClassificationFit>(fit);
  m.def("probability_loss", &probability_losses, nb::arg("probabilities"), nb::arg("target"),
        nb::arg("alpha"));
  m.def(
      "fit_classification",
      [](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
         double alpha, index_t classes, double penalty, double tolerance, int max_iterations) {
        const ClassificationOptions options{.alpha = alpha,
                                            .classes = classes,
                                            .labels = Labels::index,
                                            .penalty = penalty,
                                            .minimize = minimize_options(tolerance, max_iterations)};
        return with_data(rows, weights, std::move(names), 0,
                         [&](const Data& data) { return fit_classification(data, options); });
      },
      nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("alpha"), nb::arg("classes"),
      nb::arg("penalty"), nb::arg("tolerance"), nb::arg("max_iterations"));
}

}  // namespace fenchel::python
