#include "data/file_bytes.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <system_error>
#include <utility>

namespace fenchel::detail {

FileBytes::FileBytes(std::span<const char> memory, std::string name)
    : ByteSource(std::move(name)), memory_(memory), size_(static_cast<index_t>(memory.size())) {}

FileBytes::FileBytes(const std::string& path, std::string name) : ByteSource(std::move(name)) {
  // Without O_NONBLOCK the open of a pipe waits for its writer.
  descriptor_ = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0) refuse_errno("cannot be opened");
  try {
    struct stat status {};
    if (::fstat(descriptor_, &status) != 0) refuse_errno("cannot be read");
    if (S_ISDIR(status.st_mode)) refuse("is a directory");
    if (!S_ISREG(status.st_mode)) refuse("is not a regular file");
    size_ = static_cast<index_t>(status.st_size);
    changed_seconds_ = status.st_mtim.tv_sec;
    changed_nanoseconds_ = status.st_mtim.tv_nsec;
  } catch (...) {
    ::close(descriptor_);
    throw;
  }
}

FileBytes::~FileBytes() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

FileWindow FileBytes::read(index_t begin, index_t end, FunctionRef<void(std::span<const char>)> seen) const {
  constexpr index_t kPiece = index_t{1} << 18;  // stays in the cache until it is looked at
  if (descriptor_ < 0) {
    const std::span bytes =
        memory_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    seen(bytes);
    return {bytes, nullptr};
  }
  const std::shared_ptr<char[]> bytes(new char[static_cast<std::size_t>(end - begin)]);
  index_t at = begin;
  while (at != end) {
    const ssize_t count = ::pread(descriptor_, bytes.get() + (at - begin),
                                  static_cast<std::size_t>(std::min(kPiece, end - at)), at);
    if (count == 0) break;
    if (count < 0 && errno != EINTR) refuse_errno("cannot be read");
    if (count < 0) continue;
    at += count;
    seen({bytes.get(), static_cast<std::size_t>(at - begin)});
  }
  struct stat status {};
  if (::fstat(descriptor_, &status) != 0) refuse_errno("cannot be read");
  if (at != end || status.st_size != size_ || status.st_mtim.tv_sec != changed_seconds_ ||
      status.st_mtim.tv_nsec != changed_nanoseconds_)
    refuse("changed while it was read");
  return {{bytes.get(), static_cast<std::size_t>(end - begin)}, bytes};
}

void FileBytes::refuse_errno(std::string_view complaint) const {
  const int error = errno;
  refuse(std::string(complaint) + ": " + std::generic_category().message(error));
}

}  // namespace fenchel::detail
