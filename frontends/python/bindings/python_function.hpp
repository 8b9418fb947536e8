#pragma once

#include <nanobind/nanobind.h>

#include <functional>
#include <vector>

namespace fenchel::python {

namespace nb = nanobind;

using Function = nb::typed<nb::callable, double(double)>;

/// A Python function float -> float that somebody else keeps alive. What it raises comes back to Python as it
/// is; an answer that is no number is a TypeError that names the function. Takes the GIL, so that any thread
/// may call it that somebody who has released the GIL waits for.
class PythonFunction {
 public:
  PythonFunction(const char* name, const Function& f) : name_(name), f_(f) {}

  double operator()(double t) const {
    const nb::gil_scoped_acquire acquire;
    thread_local unsigned calls = 0;  // a function that is written in C does not look at signals
    if (++calls % 16 == 0 && PyErr_CheckSignals() != 0) throw nb::python_error();
    const nb::object answer = f_(t);
    const double value = PyFloat_AsDouble(answer.ptr());
    if (value == -1 && PyErr_Occurred() != nullptr) {
      if (PyErr_ExceptionMatches(PyExc_TypeError))
        PyErr_Format(PyExc_TypeError, "%s must return a real number, got %R", name_, answer.ptr());
      throw nb::python_error();
    }
    return value;
  }

 private:
  const char* name_;
  nb::handle f_;
};

using FunctionList = nb::typed<nb::list, Function>;

/// Several of them.
[[nodiscard]] inline std::vector<std::function<double(double)>> python_functions(const char* name,
                                                                                 const FunctionList& list) {
  std::vector<std::function<double(double)>> functions;
  for (const nb::handle f : list) functions.emplace_back(PythonFunction(name, nb::borrow<Function>(f)));
  return functions;
}

}  // namespace fenchel::python
