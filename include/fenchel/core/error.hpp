#pragma once

/// `ConvergenceError` and `CudaError`, and the one form of all error messages.

#include <stdexcept>
#include <string>
#include <string_view>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// An iteration that did not reach its tolerance.
class FENCHEL_EXPORT ConvergenceError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A call of CUDA that failed.
class FENCHEL_EXPORT CudaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// "fenchel::entmax: alpha must be positive, got -1"; the number in its shortest round-trip form.
[[nodiscard]] FENCHEL_EXPORT std::string error_message(std::string_view where, std::string_view what,
                                                       std::string_view constraint, double got);
[[nodiscard]] FENCHEL_EXPORT std::string error_message(std::string_view where, std::string_view what,
                                                       std::string_view constraint, index_t got);

[[nodiscard]] FENCHEL_EXPORT std::string error_message(std::string_view where, std::string_view what,
                                                       std::string_view constraint, std::string_view got);

/// The shortest form that reads back; "nan" whatever its sign, which says nothing.
[[nodiscard]] FENCHEL_EXPORT std::string shortest(double value);
[[nodiscard]] FENCHEL_EXPORT std::string shortest(index_t value);

/// "alpha[17]": how a message names an element of a batch.
[[nodiscard]] FENCHEL_EXPORT std::string indexed(std::string_view name, index_t i);

/// Throws std::domain_error: a parameter has a value that means nothing.
[[noreturn]] FENCHEL_EXPORT void throw_domain_error(std::string_view where, std::string_view what,
                                                    std::string_view constraint, double got);
/// Throws std::invalid_argument: a shape, a size or a pointer does not fit.
[[noreturn]] FENCHEL_EXPORT void throw_invalid_argument(std::string_view where, std::string_view what,
                                                        std::string_view constraint, index_t got);
/// The same where what was got is best said in words.
[[noreturn]] FENCHEL_EXPORT void throw_invalid_argument(std::string_view where, std::string_view what,
                                                        std::string_view constraint, std::string_view got);

}  // namespace fenchel
