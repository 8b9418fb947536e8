#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "bindings/arrays/array_source.hpp"
#include "bindings/arrays/arrays.hpp"
#include "bindings/arrays/eigen_arrays.hpp"
#include "bindings/bindings.hpp"
#include "bindings/distributions/families.hpp"
#include "bindings/estimate/refit.hpp"
#include "bindings/gil.hpp"
#include "bindings/python_function.hpp"
#include "fenchel/estimate/fit/beta_gaussian.hpp"
#include "fenchel/estimate/fit/beta_laplace.hpp"
#include "fenchel/estimate/fit/capped.hpp"
#include "fenchel/estimate/fit/linear_score.hpp"
#include "fenchel/estimate/fit/location_scale.hpp"
#include "fenchel/estimate/fit/multivariate_beta_gaussian.hpp"
#include "fenchel/estimate/fit/smooth.hpp"
#include "fenchel/estimate/fit/sparse_integer_gaussian.hpp"
#include "fenchel/estimate/fit/sparse_poisson.hpp"
#include "fenchel/estimate/fit/truncated_gaussian.hpp"

namespace fenchel::python {
namespace {

Output<> covariance_of(const Eigen::MatrixXd& covariance) { return matrix_to_array(covariance); }
/// A function that computes it, since it may be larger than memory.
nb::typed<nb::callable, Output<>()> covariance_of(const EllipticalCovariance& covariance) {
  return nb::borrow<nb::callable>(
      nb::cpp_function([covariance] { return matrix_to_array(covariance.matrix()); }));
}

/// Distribution, names, parameters, covariance, standard errors, loss and weight.
template <class P>
auto result(const Fit<P>& fit) {
  return std::tuple(fit.distribution, fit.names, vector_to_array(fit.parameters),
                    covariance_of(fit.covariance), vector_to_array(fit.standard_errors()), fit.loss,
                    fit.weight);
}

/// Of statistics, which other threads may change meanwhile, where the family can be fitted to them.
template <class S, class F>
void bind_from_statistics(nb::module_& m, const char* name, const F& fit) {
  if constexpr (requires(const S& statistics) { fit(1.0, statistics); }) {
    m.def(
        name,
        [fit](const S& statistics, Shape shape) {
          const S mine = statistics;
          return result(without_gil([&] { return fit_to(fit, shape, mine); }));
        },
        nb::arg("statistics"), nb::arg("shape").none());
  }
}

/// Of data, where the family needs several passes.
template <class F>
void bind_from_data(nb::module_& m, const char* name, const F& fit) {
  if constexpr (requires(const Data& data) { fit(1.0, data); }) {
    m.def(
        name,
        [fit](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
              Shape shape) {
          return result(with_data(rows, weights, std::move(names), 0,
                                  [&](const Data& data) { return fit_to(fit, shape, data); }));
        },
        nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("shape").none());
  }
}

template <class F>
void bind_fits(nb::module_& m, const char* name, const F& fit) {
  bind_from_statistics<LineMoments>(m, name, fit);
  bind_from_statistics<AbsoluteMoments>(m, name, fit);
  bind_from_statistics<CountHistogram>(m, name, fit);
  bind_from_statistics<Moments>(m, name, fit);
  bind_from_data(m, name, fit);
}

/// Fits that call Python functions, which take the GIL for it. Who calls them keeps the functions alive.
void bind_function_fits(nb::module_& m) {
  m.def(
      "fit_location_scale",
      [](const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
         const Function& g, const Function& slope) {
        return result(with_data(rows, weights, std::move(names), 0, [&](const Data& data) {
          return fit_location_scale(PythonFunction("g", g), PythonFunction("slope", slope), data);
        }));
      },
      nb::arg("rows"), nb::arg("weights").none(), nb::arg("names"), nb::arg("g"), nb::arg("slope"));
  m.def(
      "fit_linear_score",
      [](double alpha, const FunctionList& phi, const Interval& domain, const InputRows& rows,
         const std::optional<Input<>>& weights, std::vector<std::string> names,
         const std::vector<double>& start) {
        const auto functions = python_functions("phi", phi);
        return result(with_data(rows, weights, std::move(names), 0, [&](const Data& data) {
          return fit_linear_score(alpha, functions, domain, data, start);
        }));
      },
      nb::arg("alpha"), nb::arg("phi"), nb::arg("domain"), nb::arg("rows"), nb::arg("weights").none(),
      nb::arg("names"), nb::arg("start"));
}

}  // namespace

void bind_fit(nb::module_& m) {
#define FENCHEL_BIND(P, name, omega) \
  bind_fits(m, "fit_" #name, [](const auto&... a) -> decltype(fit_##name(a...)) { return fit_##name(a...); });
  FENCHEL_LINE_FAMILIES(FENCHEL_BIND)
  FENCHEL_INTEGER_FAMILIES(FENCHEL_BIND)
  FENCHEL_SPACE_FAMILIES(FENCHEL_BIND)
#undef FENCHEL_BIND
  bind_function_fits(m);
}

}  // namespace fenchel::python
