#pragma once

/// `Processes`: the processes that fit together, each with a part of the data.

#include <cstddef>
#include <exception>
#include <span>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"

namespace fenchel {

using Bytes = std::vector<std::byte>;

/// The processes that fit together, each with a part of the data: one, or those of an MPI communicator
/// (fenchel/mpi). Every process must make the same calls in the same order.
class FENCHEL_EXPORT Processes {
 public:
  virtual ~Processes() = default;

  [[nodiscard]] virtual int rank() const noexcept = 0;
  [[nodiscard]] virtual int size() const noexcept = 0;

  /// What one process has: bytes, or the error that kept it from having any.
  struct Share {
    Bytes bytes;
    std::exception_ptr error;
  };
  /// merge(the bytes of all processes in order of rank), computed once: every process gets the same bits. If
  /// any has an error, all throw that of the lowest rank.
  [[nodiscard]] virtual Bytes exchange(const Share& mine,
                                       FunctionRef<Bytes(std::span<const Bytes>)> merge) = 0;

  /// This process, alone.
  [[nodiscard]] static Processes& alone() noexcept;
};

/// Calls f() in every process; when it throws in any, all throw. For what may fail in one process only, such
/// as opening its part of the files.
template <class F>
void together(Processes& processes, F&& f) {
  Processes::Share share;
  try {
    f();
  } catch (...) {
    share.error = std::current_exception();
  }
  static_cast<void>(processes.exchange(share, [](std::span<const Bytes>) { return Bytes{}; }));
}

}  // namespace fenchel
