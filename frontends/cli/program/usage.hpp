#pragma once

#include <span>
#include <string>
#include <vector>

namespace CLI {
class App;
class ParseError;
}  // namespace CLI

namespace fenchel::cli {

/// "; did you mean map?", or nothing where no known word is like this one.
[[nodiscard]] std::string did_you_mean(const std::string& word, const std::vector<std::string>& known);

/// The commands that stand on the command line: "plot density".
[[nodiscard]] std::string command_name(const CLI::App& program);

/// What to read for a command line: "help plot density" asks for "plot density --help".
[[nodiscard]] std::vector<std::string> read_help(int count, char** arguments);

/// Whether the command on the command line has --output.
[[nodiscard]] bool has_output(const CLI::App& program);

/// Throws UsageError where a command is due and another word stands: CLI11 would only say that none was
/// given.
void check_commands(const CLI::App& program, std::span<const std::string> words);

/// The text of --help with lines of 100 characters at most. Descriptions go on below their beginning; the
/// commands of examples and the table of families stay as they are.
[[nodiscard]] std::string wrapped(const std::string& help);

/// What CLI11 found wrong with a command line, in plain words.
[[nodiscard]] std::string usage_message(const CLI::App& program, const CLI::ParseError& error);

}  // namespace fenchel::cli
