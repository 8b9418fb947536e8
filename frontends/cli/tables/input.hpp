#pragma once

#include <memory>
#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "fenchel/data/batch_source.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// Which table, and which of its columns.
struct InputOptions {
  std::string path;  ///< - is standard input
  std::vector<std::string> columns;
  std::string weight;
  char separator = ',';
  bool no_header = false;
  bool skip_missing = false;
  bool masks = false;  ///< of the columns but the weight, -inf and an empty field are masks
};

/// FILE, or what else it is called, --separator, --no-header, --skip-missing. What columns there are to
/// choose is the command's to say.
void add_input_options(CLI::App& app, InputOptions& options, const std::string& file = "FILE");

/// Whether a file can be read but once: standard input, a pipe, a device.
[[nodiscard]] bool is_stream(const std::string& path);
/// What messages call a table.
[[nodiscard]] std::string table_name(const std::string& path);

/// An open table: CSV, or .npy by its first bytes. A stream is read whole, and owned.
class Input {
 public:
  /// Notes on standard error where all names of a CSV file are numbers: then it may have no header. Throws
  /// DataError for what cannot be read, UsageError for a column that is chosen twice.
  Input(const Session& session, const InputOptions& options);

  [[nodiscard]] const BatchSource& source() const noexcept { return *source_; }

 private:
  std::string text_;
  std::unique_ptr<BatchSource> source_;
};

}  // namespace fenchel::cli
