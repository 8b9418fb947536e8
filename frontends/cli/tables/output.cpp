#include "cli/tables/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <string>
#include <system_error>

#include "cli/program/interrupt.hpp"

namespace fenchel::cli {
namespace {

constexpr std::size_t kBuffer = 1 << 16;

[[noreturn]] void fail(const std::string& path) {
  const int reason = errno;
  if (reason == EPIPE) throw ClosedPipe();
  throw std::runtime_error("cannot write " + (path == "-" ? "standard output" : path) + ": " +
                           std::generic_category().message(reason));
}

void write_all(int descriptor, std::string_view text, const std::string& path) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno == EINTR) {
      check_interrupt();
    } else if (written < 0) {
      fail(path);
    } else {
      text.remove_prefix(static_cast<std::size_t>(written));
    }
  }
}

/// Where a link leads, and the links after it: the file there is written, and the link stays.
std::string target_of(const std::string& path) {
  constexpr int kMostLinks = 40;  // Linux follows no more
  std::filesystem::path target = path;
  std::error_code none;
  for (int k = 0; k < kMostLinks && std::filesystem::is_symlink(target, none); ++k)
    target = target.parent_path() / std::filesystem::read_symlink(target, none);
  return target.string();
}

std::string folder_of(const std::string& path) {
  const std::string folder = std::filesystem::path(path).parent_path().string();
  return folder.empty() ? "." : folder;
}

/// Where an open file is found that has no name.
std::string place_of(int descriptor) { return "/proc/self/fd/" + std::to_string(descriptor); }

}  // namespace

Output::Output(const std::string& path) : path_(path) {
  if (path == "-") {
    if ((fcntl(STDOUT_FILENO, F_GETFL) & O_ACCMODE) == O_RDONLY) {
      errno = EBADF;
      fail(path);
    }
    descriptor_ = STDOUT_FILENO;
    terminal_ = isatty(STDOUT_FILENO) == 1;
    return;
  }
  if (path.empty()) throw std::invalid_argument("--output: the name of the file is empty");
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(path);
  if (exists && S_ISDIR(status.st_mode))
    throw std::runtime_error("cannot write " + path + ": it is a folder");
  if (exists && access(path.c_str(), W_OK) != 0) fail(path);
  regular_ = !exists || S_ISREG(status.st_mode);
  if (!regular_) return;
  path_ = target_of(path);
  open_unfinished(path);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor_, exists ? status.st_mode & 07777 : 0666 & ~mask);
}

void Output::open_unfinished(const std::string& path) {
  const std::string folder = folder_of(path_);
  descriptor_ = open(folder.c_str(), O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
  if (descriptor_ >= 0 && access(place_of(descriptor_).c_str(), F_OK) == 0) return;
  if (descriptor_ >= 0) close(descriptor_);
  std::string name = folder + "/.fenchel.XXXXXX";
  descriptor_ = mkostemp(name.data(), O_CLOEXEC);
  if (descriptor_ < 0) fail(path);
  set_temporary(name);
}

/// Gives the file without a name this one; false where there is another of that name.
bool Output::link_as(const std::string& name) const {
  if (linkat(AT_FDCWD, place_of(descriptor_).c_str(), AT_FDCWD, name.c_str(), AT_SYMLINK_FOLLOW) == 0)
    return true;
  if (errno != EEXIST) fail(path_);
  return false;
}

void Output::set_temporary(const std::string& name) {
  temporary_ = name;
  set_unfinished_file(name);
}

Output::~Output() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
  if (temporary_.empty()) return;
  unlink(temporary_.c_str());
  set_temporary("");
}

void Output::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void Output::flush() {
  check_interrupt();
  if (descriptor_ < 0) {
    descriptor_ = open(path_.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) check_interrupt();
    if (descriptor_ < 0) fail(path_);
  }
  write_all(descriptor_, buffer_, path_);
  buffer_.clear();
}

void Output::rewrite_beginning(std::string_view text) {
  flush();
  if (pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) fail(path_);
}

void Output::finish() {
  flush();
  if (!regular_) return;
  if (fsync(descriptor_) != 0) fail(path_);
  if (temporary_.empty()) {
    if (link_as(path_)) return;
    // A file takes the place of another by its name alone: it has one between these two calls.
    const std::string beside = folder_of(path_) + "/.fenchel." + std::to_string(getpid()) + ".";
    int k = 0;
    while (!link_as(beside + std::to_string(k))) ++k;
    set_temporary(beside + std::to_string(k));
  }
  if (rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_);
  set_temporary("");
}

void write_file(const std::string& path, std::string_view content) {
  Output output(path);
  output.write(content);
  output.finish();
}

}  // namespace fenchel::cli
