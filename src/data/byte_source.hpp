#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Some bytes of a file; they last as long as `owner`.
struct FileWindow {
  std::span<const char> bytes;
  std::shared_ptr<const void> owner;
};

/// The bytes of a file, of which windows are looked at. Throws DataError where they cannot be read.
class ByteSource {
 public:
  explicit ByteSource(std::string name) : name_(std::move(name)) {}
  virtual ~ByteSource() = default;
  ByteSource(const ByteSource&) = delete;
  ByteSource& operator=(const ByteSource&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }
  [[nodiscard]] virtual index_t size() const noexcept = 0;
  /// The bytes of [begin, end), which must lie in the file. Safe in any thread. Calls seen(bytes) for more
  /// and more of them while they are read, and in the end for all.
  [[nodiscard]] FileWindow window(
      index_t begin, index_t end, FunctionRef<void(std::span<const char>)> seen = [](auto) {}) const {
    return begin == end ? FileWindow{} : read(begin, end, seen);
  }
  /// Throws DataError "NAME: COMPLAINT".
  [[noreturn]] void refuse(std::string_view complaint) const;

 protected:
  /// The same, unless there are none.
  [[nodiscard]] virtual FileWindow read(index_t begin, index_t end,
                                        FunctionRef<void(std::span<const char>)> seen) const = 0;

 private:
  std::string name_;
};

/// The bytes of a regular file that messages call `name`, or of memory that somebody else owns: decompressed
/// where they begin as gzip or zstd does. Throws DataError where they cannot be read.
[[nodiscard]] std::unique_ptr<const ByteSource> open_bytes(const std::string& path, std::string name);
[[nodiscard]] std::unique_ptr<const ByteSource> open_bytes(std::span<const char> memory, std::string name);

/// The first bytes of a file, decompressed, `most` of them or as many as there are.
[[nodiscard]] std::string beginning_of(const ByteSource& file, index_t most);

}  // namespace fenchel::detail
