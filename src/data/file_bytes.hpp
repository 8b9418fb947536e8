#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Some bytes of a file; they last as long as `owner`.
struct FileWindow {
  std::span<const char> bytes;
  std::shared_ptr<const void> owner;
};

/// A regular file of which windows are copied one at a time, or bytes in memory that somebody else owns. A
/// mapping would end the process (SIGBUS) where the file is cut short or its medium fails while it is used.
/// Throws DataError where the file cannot be read, and where it is no longer what it was when it was opened.
class FileBytes {
 public:
  explicit FileBytes(std::string path);
  FileBytes(std::string name, std::span<const char> memory);
  ~FileBytes();
  FileBytes(const FileBytes&) = delete;
  FileBytes& operator=(const FileBytes&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// The bytes of [begin, end), which must lie in the file. Safe in any thread. Calls seen(bytes) for more
  /// and more of them while they are read, and in the end for all.
  [[nodiscard]] FileWindow window(
      index_t begin, index_t end, FunctionRef<void(std::span<const char>)> seen = [](auto) {}) const;
  /// Throws DataError "NAME: COMPLAINT".
  [[noreturn]] void refuse(std::string_view complaint) const;

 private:
  [[noreturn]] void refuse_errno(std::string_view complaint) const;

  std::string name_;
  std::span<const char> memory_;
  index_t size_ = 0;
  int descriptor_ = -1;
  long changed_seconds_ = 0, changed_nanoseconds_ = 0;
};

}  // namespace fenchel::detail
