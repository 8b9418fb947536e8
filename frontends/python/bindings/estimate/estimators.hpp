#pragma once

#include <cmath>
#include <cstddef>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/estimate/regression/minimize.hpp"

/// What the bindings of fits on rows of a target and features share.
namespace fenchel::python {

[[nodiscard]] inline MinimizeOptions minimize_options(double tolerance, int max_iterations) {
  return {.tolerance = tolerance, .max_iterations = max_iterations, .callback = {}};
}

/// The prediction of a fit for each row.
template <class Fit>
[[nodiscard]] auto predictions(const Fit& fit, const InputRows& x) {
  const Rows<const double> rows = rows_of(x);
  return without_gil([&] {
    std::vector<decltype(predict(fit, rows[0]))> result;
    result.reserve(static_cast<std::size_t>(rows.rows));
    for (index_t i = 0; i < rows.rows; ++i) {
      checkpoint_at(i);
      result.push_back(predict(fit, rows[i]));
    }
    return result;
  });
}

/// f of the prediction for each row, and of the row's number, without keeping them.
template <class Fit, class F>
[[nodiscard]] Output<> map_predictions(const Fit& fit, const InputRows& x, const F& f) {
  const Rows<const double> rows = rows_of(x);
  return to_array(without_gil([&] {
    std::vector<double> values(static_cast<std::size_t>(rows.rows));
    for (index_t i = 0; i < rows.rows; ++i) {
      checkpoint_at(i);
      values[static_cast<std::size_t>(i)] = f(predict(fit, rows[i]), i);
    }
    return values;
  }));
}

/// The logarithm of the density or probability of y, one for each row, and what is expected of it.
template <class Fit, class Class>
Class& bind_log_densities(Class& bound) {
  using Value = typename decltype(predict(std::declval<const Fit&>(), std::span<const double>()))::value_type;
  return bound
      .def("log_densities",
           [](const Fit& fit, const InputRows& x, const Input<>& y) {
             if (y.size() != x.shape(0))
               throw_invalid_argument("log_densities", "y", "must be one for each row",
                                      shortest(static_cast<index_t>(y.size())));
             return map_predictions(fit, x, [&y](const auto& p, index_t i) {
               const double t = y.data()[i];
               if constexpr (std::is_integral_v<Value>)
                 return t >= 0 && t <= 0x1p52 && t == std::floor(t) ? log_pmf(p, static_cast<Value>(t))
                                                                    : -kInfinity;
               else
                 return log_pdf(p, t);
             });
           })
      .def("expected_log_densities", [](const Fit& fit, const InputRows& x) {
        return map_predictions(fit, x, [](const auto& p, index_t) { return -entropy(p); });
      });
}

/// What all fits say of the search that led to them.
template <class Fit, class Class>
Class& bind_search(Class& bound) {
  return bound.def_ro("loss", &Fit::loss)
      .def_ro("iterations", &Fit::iterations)
      .def_ro("residual", &Fit::residual)
      .def_prop_ro("status", [](const Fit& fit) { return std::string(to_string(fit.status)); });
}

}  // namespace fenchel::python
