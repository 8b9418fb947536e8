#include "fenchel/core/checkpoint.hpp"

#include <utility>

#include "core/current_check.hpp"

namespace fenchel {

constinit thread_local ScopedCheck* detail::current_check = nullptr;

ScopedCheck::ScopedCheck(FunctionRef<void()> check) noexcept
    : check_(check), outer_(std::exchange(detail::current_check, this)) {}
ScopedCheck::~ScopedCheck() { detail::current_check = outer_; }

void checkpoint() {
  ScopedCheck* const current = detail::current_check;
  if (current == nullptr) return;
  const auto now = std::chrono::steady_clock::now();
  const bool is_first = current->last_ == std::chrono::steady_clock::time_point{};
  if (!is_first && now - current->last_ < ScopedCheck::kInterval) return;
  current->last_ = now;
  if (!is_first) current->check_();
}

}  // namespace fenchel
