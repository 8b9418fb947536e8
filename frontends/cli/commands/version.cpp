#include <fmt/format.h>

#include <CLI/App.hpp>

#include "cli/commands/command.hpp"
#include "cli/tables/record.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/core/version.hpp"

namespace fenchel::cli {

/// Of the results in JSON, as docs/cli.md has them: it grows where a key goes or changes what it means.
constexpr int kJsonForm = 1;

std::string version_text() { return fmt::format("{}.{}.{}", kVersion.major, kVersion.minor, kVersion.patch); }

Command add_version(CLI::App& program, Session& session) {
  CLI::App* app = program.add_subcommand("version", "The version, and what it was built with.");
  app->footer("Examples:\n  fenchel version\n  fenchel version --json");
  add_common_options(*app, session);
  return {app, [&session] {
#ifdef FENCHEL_CLI_MPI
            constexpr bool kMpi = true;
#else
            constexpr bool kMpi = false;
#endif
            print(session, {{"version", version_text()},
                            {"compiler", FENCHEL_CLI_COMPILER},
                            {"threads", num_threads()},
                            {"mpi", kMpi},
                            {"json", kJsonForm}});
          }};
}

}  // namespace fenchel::cli
