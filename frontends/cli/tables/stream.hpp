#pragma once

#include <string>

namespace fenchel::cli {

/// All that comes from a file that can be read but once, such as standard input: in memory, and from 32 MiB
/// on in a file without a name, in the folder that TMPDIR names, else in /var/tmp. It is kept since a fit may
/// pass over its data several times.
class Stream {
 public:
  /// Reads `path`, where - is standard input and messages say `name`. Throws DataError for what cannot be
  /// read or kept.
  Stream(const std::string& path, const std::string& name);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  /// What was read, unless it is in a file.
  [[nodiscard]] const std::string& text() const noexcept { return text_; }
  /// The file, or "" where it is in memory.
  [[nodiscard]] std::string path() const;

 private:
  void keep_in_file();

  std::string name_, text_;
  int descriptor_ = -1;
};

}  // namespace fenchel::cli
