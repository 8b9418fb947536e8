#include <exception>

#include "bindings/bindings.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::python {

/// std::domain_error and std::invalid_argument are ValueError by nanobind's own rules.
void bind_errors(nb::module_& m) {
  auto error = nb::exception<ConvergenceError>(m, "ConvergenceError", PyExc_RuntimeError);
  error.attr("__doc__") = "A search did not come to its end: the message says which one and how far it got.";
  nb::register_exception_translator([](const std::exception_ptr& thrown, void*) {
    try {
      std::rethrow_exception(thrown);
    } catch (const DataError& error) {
      PyErr_SetString(PyExc_ValueError, error.what());
    }
  });
}

}  // namespace fenchel::python
