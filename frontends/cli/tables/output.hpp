#pragma once

#include <cstdint>
#include <exception>
#include <string>
#include <string_view>

namespace fenchel::cli {

/// Whoever read our output has gone.
class ClosedPipe : public std::exception {
 public:
  [[nodiscard]] const char* what() const noexcept override { return "the reader has closed the pipe"; }
};

/// Bytes on their way to standard output ("-") or to a file. The file appears under its name when finish() is
/// called, whole; until then, and if it never is, there is nothing (and what stood there stays), however the
/// program ends: the file has no name. Where the file system or a missing /proc does not allow that, it has
/// one, which goes with the program unless nobody can catch the signal. A device or a pipe is written to
/// directly. Throws std::runtime_error for what cannot be written.
class Output {
 public:
  /// Says what cannot be written as far as it can be known now. A pipe is opened when the first bytes leave,
  /// since that waits for its reader.
  explicit Output(const std::string& path);
  ~Output();
  Output(const Output&) = delete;
  Output& operator=(const Output&) = delete;

  void write(std::string_view text);
  /// Writes over bytes from the beginning on, of a file alone.
  void rewrite_beginning(std::string_view text);
  void finish();

  /// Someone looks at it.
  [[nodiscard]] bool is_terminal() const noexcept { return terminal_; }

 private:
  void open_unfinished(const std::string& path);
  [[nodiscard]] bool link_as(const std::string& name) const;
  void set_temporary(const std::string& name);
  void flush();

  std::string path_, temporary_, buffer_;  // temporary_ is empty where there is none
  int descriptor_ = -1;
  bool terminal_ = false, regular_ = false;
};

/// All of an output at once.
void write_file(const std::string& path, std::string_view content);

}  // namespace fenchel::cli
