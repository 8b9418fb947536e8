#pragma once

#include <cstdint>
#include <utility>

/// The structures of the Arrow C data and stream interfaces, in the layout and with the names of their
/// members that https://arrow.apache.org/docs/format/CDataInterface.html and CStreamInterface.html fix.
namespace fenchel::python {

struct ArrowSchema {
  const char* format;
  const char* name;
  const char* metadata;
  std::int64_t flags;
  std::int64_t n_children;
  ArrowSchema** children;
  ArrowSchema* dictionary;
  void (*release)(ArrowSchema*);
  void* private_data;
};

struct ArrowArray {
  std::int64_t length;
  std::int64_t null_count;
  std::int64_t offset;
  std::int64_t n_buffers;
  std::int64_t n_children;
  const void** buffers;
  ArrowArray** children;
  ArrowArray* dictionary;
  void (*release)(ArrowArray*);
  void* private_data;
};

struct ArrowArrayStream {
  int (*get_schema)(ArrowArrayStream*, ArrowSchema* out);
  int (*get_next)(ArrowArrayStream*, ArrowArray* out);
  const char* (*get_last_error)(ArrowArrayStream*);
  void (*release)(ArrowArrayStream*);
  void* private_data;
};

/// Owns one of them: it is released once, when nobody needs it any more.
template <class T>
class Owned {
 public:
  Owned() = default;
  /// Takes it from who had it, as the interface says: by setting its release to null.
  explicit Owned(T& from) : value_(std::exchange(from, T{})) {}
  Owned(Owned&& other) noexcept : value_(std::exchange(other.value_, T{})) {}
  Owned& operator=(Owned&& other) noexcept {
    std::swap(value_, other.value_);
    return *this;
  }
  ~Owned() {
    if (value_.release) value_.release(&value_);
  }

  [[nodiscard]] explicit operator bool() const noexcept { return value_.release != nullptr; }
  [[nodiscard]] T* get() noexcept { return &value_; }
  [[nodiscard]] const T* operator->() const noexcept { return &value_; }
  [[nodiscard]] const T& operator*() const noexcept { return value_; }

 private:
  T value_{};
};

}  // namespace fenchel::python
