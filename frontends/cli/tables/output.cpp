#include "cli/tables/output.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <stdexcept>
#include <system_error>

#include "cli/program/interrupt.hpp"
#include "cli/program/session.hpp"

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

}  // namespace

Output::Output(const std::string& path) : path_(path) {
  if (path == "-") {
    descriptor_ = STDOUT_FILENO;
    terminal_ = isatty(STDOUT_FILENO) == 1;
    return;
  }
  if (path.empty()) throw UsageError("--output: the name of the file is empty");
  struct stat status {};
  const bool exists = stat(path.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode))
    throw std::runtime_error("cannot write " + path + ": it is a folder");
  if (exists && !S_ISREG(status.st_mode)) {
    descriptor_ = open(path.c_str(), O_WRONLY | O_CLOEXEC);
    if (descriptor_ < 0) fail(path);
    return;
  }
  if (exists && access(path.c_str(), W_OK) != 0) fail(path);
  path_ = target_of(path);
  temporary_ = path_ + ".XXXXXX";
  descriptor_ = mkostemp(temporary_.data(), O_CLOEXEC);
  if (descriptor_ < 0) {
    temporary_.clear();
    fail(path);
  }
  set_unfinished_file(temporary_);
  const mode_t mask = umask(0);
  umask(mask);
  fchmod(descriptor_, exists ? status.st_mode & 07777 : 0666 & ~mask);
}

Output::~Output() {
  if (descriptor_ >= 0 && descriptor_ != STDOUT_FILENO) close(descriptor_);
  if (!temporary_.empty()) {
    unlink(temporary_.c_str());
    set_unfinished_file("");
  }
}

void Output::write(std::string_view text) {
  buffer_ += text;
  if (buffer_.size() >= kBuffer) flush();
}

void Output::flush() {
  check_interrupt();
  write_all(descriptor_, buffer_, path_);
  buffer_.clear();
}

void Output::rewrite_beginning(std::string_view text) {
  flush();
  if (pwrite(descriptor_, text.data(), text.size(), 0) != static_cast<ssize_t>(text.size())) fail(path_);
}

void Output::finish() {
  flush();
  if (temporary_.empty()) return;
  if (fsync(descriptor_) != 0 || rename(temporary_.c_str(), path_.c_str()) != 0) fail(path_);
  temporary_.clear();
  set_unfinished_file("");
}

void write_file(const std::string& path, std::string_view content) {
  Output output(path);
  output.write(content);
  output.finish();
}

}  // namespace fenchel::cli
