#include "cli/program/session.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <cstdio>
#include <limits>

#include "cli/tables/numbers.hpp"

namespace fenchel::cli {

void add_common_options(CLI::App& app, Session& session) {
  app.add_option(
         "-o,--output", session.output,
         "File for the result, written whole or not at all; the ending .csv, .json or .npy chooses its "
         "form. - is standard output")
      ->option_text("FILE");
  app.add_flag("--json", session.json, "JSON instead of a table (on a terminal) or CSV (elsewhere)");
  app.add_flag("-q,--quiet", session.quiet, "No progress, no notes");
  add_threads_option(app, session);
}

void add_threads_option(CLI::App& app, Session& session) {
  const auto set = [&session](std::uint64_t count) { session.threads = static_cast<int>(count); };
  add_whole(app, "--threads", set, 0, 4096, "Threads at most; 0: all cores");
}

void add_seed_option(CLI::App& app, Session& session) {
  const auto set = [&session](std::uint64_t seed) { session.seed = seed; };
  add_whole(app, "--seed", set, 0, std::numeric_limits<std::uint64_t>::max(),
            "The same seed gives the same draws (0 unless given)");
}

void note(const Session& session, const std::string& message) {
  if (session.quiet || !session.speaks()) return;
  std::fputs(fmt::format("fenchel {}: note: {}\n", session.command, message).c_str(), stderr);
}

}  // namespace fenchel::cli
