#pragma once

/// `ScopedCheck` and `checkpoint`: a way for the caller to end a long call.

#include <chrono>

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// While one lives, long calls of the thread that made it call `check` every kInterval, or as soon after it
/// as a row is done. What check throws ends the call, whose outputs are then unfinished. The innermost one
/// counts. check must outlive it.
class FENCHEL_EXPORT ScopedCheck {
 public:
  static constexpr std::chrono::milliseconds kInterval{50};

  explicit ScopedCheck(FunctionRef<void()> check) noexcept;
  ScopedCheck(const ScopedCheck&) = delete;
  ScopedCheck& operator=(const ScopedCheck&) = delete;
  ~ScopedCheck();

 private:
  friend void checkpoint();
  FunctionRef<void()> check_;
  std::chrono::steady_clock::time_point last_;
  ScopedCheck* outer_;
};

/// Calls the check of this thread if there is one and kInterval has passed: for the loops of long functions.
/// There is none in the bodies of parallel_rows, which must not throw.
FENCHEL_EXPORT void checkpoint();
/// The same for every 4096th i: for loops whose steps are so short that the clock, some 25 ns, would slow
/// them.
inline void checkpoint_at(index_t i) {
  if (i % 4096 == 0) checkpoint();
}

}  // namespace fenchel
