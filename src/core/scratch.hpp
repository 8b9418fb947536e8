#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "fenchel/core/index.hpp"

/// Uninitialised memory for the workers of one call.
namespace fenchel::detail {

/// Columns, and so many more that whole vectors, and a block of them, may be read and written past the end of
/// a row.
constexpr index_t padded(index_t cols) noexcept { return cols + 256; }

inline constexpr std::size_t kCacheLine = 64;

/// How many bytes `count` numbers take, in whole cache lines.
template <class T>
constexpr std::size_t scratch_bytes(index_t count) noexcept {
  return (static_cast<std::size_t>(count) * sizeof(T) + kCacheLine - 1) / kCacheLine * kCacheLine;
}

/// One worker's part, handed out from the front.
class WorkerScratch {
 public:
  explicit WorkerScratch(std::byte* begin) noexcept : next_(begin) {}

  template <class T>
  T* take(index_t count) noexcept {
    T* taken = reinterpret_cast<T*>(next_);
    next_ += scratch_bytes<T>(count);
    return taken;
  }

 private:
  std::byte* next_;
};

/// A thread keeps up to kKept bytes from call to call: to ask the system for pages and give them back would
/// cost more than to map a few short rows. At most one Scratch is alive in a thread.
class Scratch {
 public:
  Scratch(int workers, std::size_t bytes_each) : bytes_each_(bytes_each) {
    static thread_local std::unique_ptr<std::byte[]> kept;
    static thread_local std::size_t kept_bytes = 0;
    const std::size_t bytes = static_cast<std::size_t>(workers) * bytes_each + kCacheLine;
    if (bytes > kKept) {
      own_ = std::make_unique_for_overwrite<std::byte[]>(bytes);
    } else if (bytes > kept_bytes) {
      kept = std::make_unique_for_overwrite<std::byte[]>(bytes);
      kept_bytes = bytes;
    }
    begin_ = own_ ? own_.get() : kept.get();
    begin_ += (kCacheLine - reinterpret_cast<std::uintptr_t>(begin_) % kCacheLine) % kCacheLine;
  }

  [[nodiscard]] WorkerScratch of(int worker) const noexcept {
    return WorkerScratch(begin_ + static_cast<std::size_t>(worker) * bytes_each_);
  }

 private:
  static constexpr std::size_t kKept = std::size_t{4} << 20;
  std::unique_ptr<std::byte[]> own_;
  std::byte* begin_;
  std::size_t bytes_each_;
};

}  // namespace fenchel::detail
