#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/input.hpp"
#include "fenchel/data/part_source.hpp"

namespace CLI {
class Option;
}

namespace fenchel::cli {

/// A table that all processes of mpirun read, each its part. What goes wrong in one ends all of them.
class SharedInput {
 public:
  /// Throws DataError for what cannot be read or has no rows, and UsageError for standard input in several
  /// processes: the first alone has it.
  SharedInput(const Session& session, const InputOptions& options);

  /// This process's part; its names are the columns.
  [[nodiscard]] const BatchSource& part() const noexcept { return *part_; }
  /// What messages call the table.
  [[nodiscard]] const std::string& name() const noexcept { return name_; }

 private:
  std::string name_;
  std::unique_ptr<Input> input_;
  std::unique_ptr<PartSource> part_;
};

/// "a,b" as {"a", "b"}, for an option that names columns; one with a comma stands in quotes.
CLI::Option* add_columns(CLI::App& app, const std::string& name, std::vector<std::string>& columns,
                         const std::string& help);

/// The message without the library's name in it: "rank 2: fenchel::moments: ..." is "rank 2: ...".
[[nodiscard]] std::string plain_message(std::string message);

/// Calls work(): where the library then says that numbers mean nothing, or lead nowhere, it is the table's,
/// and becomes a DataError, "data.csv: the variance must be ...".
void blame(const std::string& table, const std::function<void()>& work);

}  // namespace fenchel::cli
