#pragma once

#include <nanobind/nanobind.h>

#include "fenchel/core/checkpoint.hpp"
#include "fenchel/core/config.hpp"

namespace fenchel {
class FENCHEL_EXPORT FunctionBasis;
class FENCHEL_EXPORT LocationScale;
class FENCHEL_EXPORT NumericDensity;
}  // namespace fenchel

namespace fenchel::python {

namespace nb = nanobind;

/// Objects of this type call Python functions, and may throw what they raise.
template <class T>
inline constexpr bool kCallsPython = false;
template <>
inline constexpr bool kCallsPython<FunctionBasis> = true;
template <>
inline constexpr bool kCallsPython<LocationScale> = true;
template <>
inline constexpr bool kCallsPython<NumericDensity> = true;

/// Lets Python handle the signals that have come. Throws what their handlers raise: KeyboardInterrupt for
/// Ctrl-C.
inline void handle_signals() {
  const nb::gil_scoped_acquire acquire;
  if (PyErr_CheckSignals() != 0) throw nb::python_error();
}

/// The GIL is released while one lives, and signals are handled now and then.
class WithoutGil {
  nb::gil_scoped_release release_;
  ScopedCheck check_{handle_signals};
};

/// f(), without the GIL unless one of the types calls Python.
template <class... Types, class F>
[[nodiscard]] auto without_gil(const F& f) {
  if constexpr ((kCallsPython<Types> || ...)) {
    return f();
  } else {
    const WithoutGil released;
    return f();
  }
}

}  // namespace fenchel::python
