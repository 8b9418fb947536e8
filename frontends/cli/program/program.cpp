#include <fmt/format.h>

#include <CLI/App.hpp>
// They define what App.hpp declares: once for the whole program, since they double the time that it takes to
// compile.
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>

#include "cli/commands/command.hpp"

namespace fenchel::cli {

Program make_program(Session& session) {
  Program program{std::make_unique<CLI::App>("Sparse distributions and Fenchel-Young losses.", "fenchel"),
                  {}};
  CLI::App& app = *program.app;
  app.set_version_flag("-v,--version", fmt::format("fenchel {}", version_text()),
                       "Print the version and exit; see also the command version");
  app.require_subcommand(1);
  app.get_formatter()->label("SUBCOMMAND", "COMMAND");
  for (const auto add : {add_map, add_density, add_sample, add_fit, add_kde, add_loss, add_regress,
                         add_predict, add_attend, add_plot, add_report, add_version})
    program.commands.emplace_back(add(app, session)).app->group("Commands");
  app.footer(
      "Examples:\n"
      "  fenchel map scores.csv --alpha 1.5\n"
      "  fenchel density parabola --sigma2 4 --at -1,0,1\n"
      "  fenchel sample biweight -n 1000 --seed 7 > draws.csv\n"
      "  fenchel fit draws.csv --family beta-gaussian --alpha auto\n"
      "  fenchel plot density triangular -o triangular.svg\n"
      "  fenchel report -o paper\n"
      "\n"
      "fenchel COMMAND --help, or fenchel help COMMAND, explains a command, with examples.");
  return program;
}

}  // namespace fenchel::cli
