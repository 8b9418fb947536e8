#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/stream.hpp"
#include "fenchel/data/batch_source.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// Which table, and which of its columns.
struct InputOptions {
  std::vector<std::string> paths;  ///< files of one table, one behind the other; - is standard input
  std::vector<std::string> columns;
  std::string weight;
  std::optional<char> separator;  ///< none: that of the first line
  char decimal = '.';
  std::optional<char> comment;
  bool no_header = false;
  std::string missing = "refuse";  ///< or drop
  bool masks = false;              ///< of the columns but the weight, -inf and an empty field are masks
};

/// FILE, or what else it is called, and the options that say how it is written. What columns there are to
/// choose is the command's to say.
void add_input_options(CLI::App& app, InputOptions& options, const std::string& file = "FILE");

/// Whether a file can be read but once: standard input, a pipe, a device.
[[nodiscard]] bool is_stream(const std::string& path);
/// What messages call a file, and a table.
[[nodiscard]] std::string table_name(const std::string& path);
[[nodiscard]] std::string table_name(const InputOptions& options);

/// An open table: CSV, or .npy by its first bytes. A stream is read whole, and owned.
class Input {
 public:
  /// Notes on standard error which separator was recognized, and which columns hold text and were left out.
  /// Throws DataError for what cannot be read, and where all names of columns are numbers: then there may be
  /// no header; UsageError for a column that is chosen twice.
  Input(const Session& session, const InputOptions& options);

  [[nodiscard]] const BatchSource& source() const noexcept { return *source_; }

 private:
  [[nodiscard]] std::shared_ptr<const BatchSource> open(const Session& session, const InputOptions& options,
                                                        const std::string& path);

  std::vector<std::unique_ptr<const Stream>> streams_;
  std::shared_ptr<const BatchSource> source_;
};

}  // namespace fenchel::cli
