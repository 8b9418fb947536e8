#pragma once

#include <span>
#include <string>
#include <string_view>

#include "data/byte_source.hpp"

namespace fenchel::detail {

/// A regular file of which windows are copied one at a time, or bytes in memory that somebody else owns. A
/// mapping would end the process (SIGBUS) where the file is cut short or its medium fails while it is used.
/// Throws DataError where the file cannot be read, and where it is no longer what it was when it was opened.
class FileBytes final : public ByteSource {
 public:
  FileBytes(const std::string& path, std::string name);
  FileBytes(std::span<const char> memory, std::string name);
  ~FileBytes() override;

  [[nodiscard]] index_t size() const noexcept override { return size_; }

 private:
  [[nodiscard]] FileWindow read(index_t begin, index_t end,
                                FunctionRef<void(std::span<const char>)> seen) const override;
  [[noreturn]] void refuse_errno(std::string_view complaint) const;

  std::span<const char> memory_;
  index_t size_ = 0;
  int descriptor_ = -1;
  long changed_seconds_ = 0, changed_nanoseconds_ = 0;
};

}  // namespace fenchel::detail
