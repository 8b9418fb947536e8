#include <dlfcn.h>
#include <nanobind/stl/string.h>
#include <unistd.h>

#include <stdexcept>
#include <string>
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

/// Lets signals end operations of the library at this path, which has been loaded.
void let_signals_end_operations(const std::string& path) {
  using Set = void (*)(void (*)());
  void* const library = dlopen(path.c_str(), RTLD_NOW | RTLD_NOLOAD);
  void* const set = library == nullptr ? nullptr : dlsym(library, "fenchel_set_torch_check");
  if (set == nullptr) throw std::runtime_error("fenchel.torch: " + path + " is of another fenchel");
  reinterpret_cast<Set>(set)(handle_signals_in_torch);
}

}  // namespace

void bind_torch_signals(nb::module_& m) {
  m.def("let_signals_end_operations", &let_signals_end_operations, nb::arg("path"));
}

}  // namespace fenchel::python
