#pragma once

#include "bindings/python_function.hpp"
#include "fenchel/score/function_score.hpp"
#include "fenchel/score/linear_score.hpp"
#include "fenchel/score/parametric_score.hpp"

namespace fenchel::python {

/// A score on the line as C++ takes it, from a Python function or one with parameters.
[[nodiscard]] inline FunctionScore as_score(const Function& f) {
  return FunctionScore(PythonFunction("f", f));
}
[[nodiscard]] inline const LinearScore& as_score(const LinearScore& f) { return f; }
[[nodiscard]] inline const ParametricScore& as_score(const ParametricScore& f) { return f; }

}  // namespace fenchel::python
