#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <utility>

#include "bindings/bindings.hpp"
#include "bindings/gil.hpp"

namespace pybind11 {

/// pybind11's own, in all of its versions: what torch calls an operation through lets such an exception set
/// Python's error itself. Types of one name are one type, whichever library has thrown.
class __attribute__((visibility("default"))) builtin_exception : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
  virtual void set_error() const = 0;
};

}  // namespace pybind11

namespace fenchel::python {
namespace {

/// What the handler of a signal has raised, for torch to raise.
class Raised final : public pybind11::builtin_exception {
 public:
  explicit Raised(nb::python_error error) : builtin_exception(error.what()), error_(std::move(error)) {}
  void set_error() const override { error_.restore(); }

 private:
  mutable nb::python_error error_;
};

/// Python handles signals on its main thread. Other threads do not ask for the GIL: as Python ends, they
/// would not get it, and must not be ended within an operation.
void handle_signals_in_torch() {
  if (gettid() != getpid()) return;
  try {
    handle_signals();
  } catch (nb::python_error& error) {
    throw Raised(std::move(error));
  }
}

}  // namespace

void bind_torch_signals(nb::module_& m) {
  m.def(
      "signal_check", [] { return reinterpret_cast<std::uintptr_t>(&handle_signals_in_torch); },
      "The address of a function for fenchel_set_torch_check, of the library of operations.");
}

}  // namespace fenchel::python
