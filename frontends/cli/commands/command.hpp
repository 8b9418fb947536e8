#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "cli/program/session.hpp"

namespace CLI {
class App;
}

namespace fenchel::cli {

/// A subcommand: its options, and what to do once they are read.
struct Command {
  CLI::App* app;
  std::function<void()> run;
  bool distributed = false;  ///< runs in all processes of mpirun, not in the first alone
};

// Each adds its subcommand to the program.
Command add_map(CLI::App& program, Session& session);
Command add_density(CLI::App& program, Session& session);
Command add_sample(CLI::App& program, Session& session);
Command add_fit(CLI::App& program, Session& session);
Command add_kde(CLI::App& program, Session& session);
Command add_loss(CLI::App& program, Session& session);
Command add_regress(CLI::App& program, Session& session);
Command add_predict(CLI::App& program, Session& session);
Command add_attend(CLI::App& program, Session& session);
Command add_plot(CLI::App& program, Session& session);
Command add_report(CLI::App& program, Session& session);
Command add_version(CLI::App& program, Session& session);

/// "0.1.0".
[[nodiscard]] std::string version_text();

/// The program with all its commands: main runs it, the manual page and the completion are made of it.
struct Program {
  std::unique_ptr<CLI::App> app;
  std::vector<Command> commands;
};
[[nodiscard]] Program make_program(Session& session);

}  // namespace fenchel::cli
