#include "cli/tables/stream.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <system_error>

#include "cli/program/interrupt.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 16, kInMemory = std::size_t{1} << 25;

/// What is behind it when errno says why not.
std::string because() {
  const int reason = errno;
  check_interrupt();
  return ": " + std::generic_category().message(reason);
}

std::string folder_for_files() {
  const char* folder = std::getenv("TMPDIR");
  return folder == nullptr || *folder == '\0' ? "/var/tmp" : folder;
}

/// A descriptor that is closed at the end.
class Descriptor {
 public:
  explicit Descriptor(const std::string& path)
      : number_(path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC)) {}
  ~Descriptor() {
    if (number_ > STDERR_FILENO) close(number_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  [[nodiscard]] int number() const noexcept { return number_; }

 private:
  int number_;
};

}  // namespace

Stream::Stream(const std::string& path, const std::string& name) : name_(name) {
  const Descriptor stream(path);
  if (stream.number() < 0) throw DataError("cannot read " + name_ + because());
  std::string piece(kPiece, '\0');
  for (;;) {
    const ssize_t count = read(stream.number(), piece.data(), piece.size());
    if (count == 0) break;
    if (count > 0) text_.append(piece, 0, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) throw DataError("cannot read " + name_ + because());
    check_interrupt();
    if (text_.size() >= (descriptor_ < 0 ? kInMemory : kPiece)) keep_in_file();
  }
  if (descriptor_ >= 0) keep_in_file();
}

Stream::~Stream() {
  if (descriptor_ >= 0) close(descriptor_);
}

std::string Stream::path() const {
  return descriptor_ < 0 ? "" : "/proc/self/fd/" + std::to_string(descriptor_);
}

/// Moves the text to the end of the file, which has no name from here on.
void Stream::keep_in_file() {
  const std::string folder = folder_for_files();
  const auto fail = [&] {
    const std::string reason = because();
    if (descriptor_ >= 0) close(descriptor_);
    throw DataError(name_ + ": is too long for memory, and cannot be kept in " + folder + reason +
                    "; TMPDIR names another folder");
  };
  if (descriptor_ < 0) descriptor_ = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC, 0600);
  if (descriptor_ < 0) {
    std::string name = folder + "/fenchel.XXXXXX";
    descriptor_ = mkostemp(name.data(), O_CLOEXEC);
    if (descriptor_ < 0) fail();
    unlink(name.c_str());
  }
  for (std::size_t at = 0; at < text_.size();) {
    const ssize_t count = write(descriptor_, text_.data() + at, text_.size() - at);
    if (count < 0 && errno != EINTR) fail();
    if (count > 0) at += static_cast<std::size_t>(count);
    check_interrupt();
  }
  text_.clear();
  text_.shrink_to_fit();
}

}  // namespace fenchel::cli
