#pragma once

#include <utility>

#include "fenchel/core/checkpoint.hpp"

namespace fenchel::detail {

extern constinit thread_local ScopedCheck* current_check;

/// While one lives, this thread has no check.
class WithoutCheck {
 public:
  WithoutCheck() noexcept : outer_(std::exchange(current_check, nullptr)) {}
  WithoutCheck(const WithoutCheck&) = delete;
  WithoutCheck& operator=(const WithoutCheck&) = delete;
  ~WithoutCheck() { current_check = outer_; }

 private:
  ScopedCheck* outer_;
};

}  // namespace fenchel::detail
