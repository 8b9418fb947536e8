#pragma once

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>

#include "fenchel/estimate/statistics/processes.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

class Output;

/// What every command has: the options that all of them share, and who else runs it.
struct Session {
  std::string command;       ///< "fit": how messages call it
  std::string output = "-";  ///< where the result goes; - is standard output
  bool json = false;
  bool quiet = false;
  int threads = 0;
  std::uint64_t seed = 0;
  Processes* processes = &Processes::alone();
  std::shared_ptr<Output> result = {};  ///< the output, open when the command runs; of one process alone

  /// One process prints.
  [[nodiscard]] bool speaks() const { return processes->rank() == 0; }
};

/// --output, --json, --quiet, --threads.
void add_common_options(CLI::App& app, Session& session);
/// --threads alone, for commands that do not have the others.
void add_threads_option(CLI::App& app, Session& session);
/// --seed, for commands that draw.
void add_seed_option(CLI::App& app, Session& session);

/// "fenchel fit: note: ..." on standard error, unless --quiet or not the process that speaks.
void note(const Session& session, const std::string& message);

/// The command line asks for something that means nothing: exit status 2.
class UsageError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

}  // namespace fenchel::cli
