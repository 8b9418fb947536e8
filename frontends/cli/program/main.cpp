#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cstdio>
#include <exception>
#include <memory>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/commands/command.hpp"
#include "cli/program/interrupt.hpp"
#include "cli/program/launch.hpp"
#include "cli/program/usage.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/output.hpp"
#include "fenchel/core/parallel.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace {

using namespace fenchel;
using namespace fenchel::cli;

constexpr int kFailure = 1, kUsage = 2;

/// A closed standard stream would lend its number to the next file that is opened, and what we say would go
/// into it. /dev/null the other way round takes the number, and every use of it fails.
void hold_standard_streams() {
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO}) {
    if (fcntl(stream, F_GETFD) < 0)
      static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
  }
}

/// One line on standard error: "fenchel fit: data.csv:17:3: expected a number, got 'abc'". The library's own
/// names ("fenchel::beta_gaussian: ") are not the user's.
void complain(const Session& session, std::string_view message) {
  if (!session.speaks()) return;
  if (message.starts_with("fenchel::")) message.remove_prefix(message.find(": ") + 2);
  std::string line =
      fmt::format("fenchel{}{}: {}", session.command.empty() ? "" : " ", session.command, message);
  std::replace_if(
      line.begin(), line.end(), [](char c) { return static_cast<unsigned char>(c) < ' '; }, '?');
  std::fputs((line + '\n').c_str(), stderr);
}

/// What became of the result.
void tell_interrupt(const Session& session) {
  complain(session, session.output == "-" ? "interrupted; the result is not complete"
                                          : fmt::format("interrupted; {} is not written", session.output));
}

/// Which option may help with a table that cannot be read.
std::string_view hint(std::string_view message) {
  if (message.find(": a value is missing") != std::string_view::npos)
    return "; --missing drop leaves such rows out";
  constexpr std::string_view kGot = ": expected a number, got '";
  const std::size_t got = message.find(kGot);
  if (got == std::string_view::npos) return "";
  const std::string_view value = message.substr(got + kGot.size());
  if (value.starts_with('#')) return "; --comment '#' leaves such lines out";
  const auto holds = [&](std::string_view mark, std::string_view besides) {
    return value.find(mark) != value.npos && value.find_first_not_of(besides) == value.npos;
  };
  if (holds(",", "0123456789+-,'")) return "; numbers with a comma need --decimal ,";
  if (holds(" ", "0123456789+-.e '")) return "; blanks between fields need --separator space";
  for (const char* separator : {";", "|", "\\x09"})  // \x09 is how a tab is shown
    if (value.find(separator) != std::string_view::npos) return "; the fields may need another --separator";
  return "";
}

/// Throws where the result cannot be written, before the command reads and computes what it is.
void open_result(Session& session) {
  static_cast<void>(form_of(session, false));
  together(*session.processes, [&] {
    if (session.speaks()) session.result = std::make_shared<Output>(session.output);
  });
}

void run(Program& program, Session& session, int count, char** arguments) {
  try {
    std::vector<std::string> words = read_help(count, arguments);
    check_commands(*program.app, words);
    std::reverse(words.begin(), words.end());  // as CLI11 takes them
    program.app->parse(std::move(words));
  } catch (const CLI::Success& help) {
    if (!session.speaks()) return;
    std::ostringstream text;
    program.app->exit(help, text);
    return write_file("-", wrapped(text.str()));
  } catch (...) {
    session.command = command_name(*program.app);
    throw;
  }
  session.command = command_name(*program.app);
  set_num_threads(session.threads);
  if (has_output(*program.app)) open_result(session);
  for (const Command& command : program.commands) {
    if (command.app->parsed() && (command.distributed || session.speaks())) command.run();
  }
}

}  // namespace

int main(int count, char** arguments) {
  hold_standard_streams();
  catch_signals();
  const Launch launch(count, arguments);
  Session session;
  session.processes = &launch.processes();
  Program program = make_program(session);
  try {
    run(program, session, count, arguments);
    return 0;
  } catch (const CLI::ParseError& error) {
    complain(session, usage_message(*program.app, error));
    return kUsage;
  } catch (const Interrupted&) {
    tell_interrupt(session);
    die_of_signal();
  } catch (const Cancelled&) {
    tell_interrupt(session);
    die_of_signal();
  } catch (const ClosedPipe&) {
    die_of_closed_pipe();
  } catch (const UsageError& error) {
    complain(session, error.what());
    return kUsage;
  } catch (const std::logic_error& error) {  // std::domain_error, std::invalid_argument: what was asked for
    complain(session, error.what());
    return kUsage;
  } catch (const DataError& error) {
    complain(session, fmt::format("{}{}", error.what(), hint(error.what())));
    return kFailure;
  } catch (const std::bad_alloc&) {
    complain(session, "out of memory");
    return kFailure;
  } catch (const std::exception& error) {
    complain(session, error.what());
    return kFailure;
  }
}
