#include "cli/program/usage.hpp"

#include <fmt/format.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <numeric>
#include <sstream>
#include <string_view>
#include <utility>

#include "cli/program/session.hpp"

namespace fenchel::cli {
namespace {

/// The fewest letters to insert, remove or change.
std::size_t edit_distance(std::string_view from, std::string_view to) {
  std::vector<std::size_t> row(to.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < from.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < to.size(); ++j) {
      const std::size_t change = diagonal + (from[i] == to[j] ? 0 : 1);
      diagonal = std::exchange(row[j + 1], std::min({row[j] + 1, row[j + 1] + 1, change}));
    }
  }
  return row.back();
}

const CLI::App& innermost(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return *app;
}

std::vector<std::string> command_names(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* command : app.get_subcommands(nullptr)) names.push_back(command->get_name());
  return names;
}

std::string unknown_option(const CLI::App& app, const std::string& word) {
  std::vector<std::string> known;
  for (const CLI::Option* option : app.get_options()) {
    for (const std::string& name : option->get_lnames()) known.push_back("--" + name);
    for (const std::string& name : option->get_snames()) known.push_back("-" + name);
  }
  const std::string name = word.substr(0, word.find('='));
  if (std::find(known.begin(), known.end(), name) != known.end()) return name + " must follow the command";
  return fmt::format("there is no option {}{}", name, did_you_mean(name, known));
}

}  // namespace

std::string did_you_mean(const std::string& word, const std::vector<std::string>& known) {
  const auto nearest = std::min_element(known.begin(), known.end(), [&](const auto& a, const auto& b) {
    return edit_distance(word, a) < edit_distance(word, b);
  });
  if (nearest == known.end() || 3 * edit_distance(word, *nearest) >= std::max(word.size(), nearest->size()))
    return "";
  return fmt::format("; did you mean {}?", *nearest);
}

std::string command_name(const CLI::App& program) {
  std::string name;
  for (const CLI::App* app = &program; !app->get_subcommands().empty();) {
    app = app->get_subcommands().front();
    name += (name.empty() ? "" : " ") + app->get_name();
  }
  return name;
}

bool has_output(const CLI::App& program) {
  const CLI::App* app = &program;
  while (!app->get_subcommands().empty()) app = app->get_subcommands().front();
  return app->get_option_no_throw("--output") != nullptr;
}

std::vector<std::string> read_help(int count, char** arguments) {
  std::vector<std::string> words(arguments + std::min(1, count), arguments + count);
  if (words.empty() || words.front() != "help") return words;
  words.erase(words.begin());
  words.emplace_back("--help");
  return words;
}

void check_commands(const CLI::App& program, std::span<const std::string> words) {
  std::string path = "fenchel";
  const CLI::App* app = &program;
  for (const std::string& word : words) {
    if (word.starts_with('-')) return;
    const std::vector<const CLI::App*> commands = app->get_subcommands(nullptr);
    if (commands.empty()) return;
    const auto found = std::find_if(commands.begin(), commands.end(),
                                    [&](const CLI::App* command) { return command->get_name() == word; });
    if (found == commands.end()) {
      const std::string hint = did_you_mean(word, command_names(*app));
      throw UsageError(fmt::format("there is no command '{} {}'{}", path, word,
                                   hint.empty() ? fmt::format("; see {} --help", path) : hint));
    }
    app = *found;
    path += " " + word;
  }
}

std::string wrapped(const std::string& help) {
  constexpr std::size_t kWidth = 100, kDescriptions = 30;  // where CLI11 begins them
  std::string text;
  std::istringstream lines(help);
  for (std::string line; std::getline(lines, line);) {
    const bool described = line.size() > kDescriptions && line.compare(kDescriptions - 2, 2, "  ") == 0 &&
                           line[kDescriptions] != ' ';
    const std::string indent(described ? kDescriptions : 0, ' ');
    while (line.size() > kWidth && (described || line[0] != ' ')) {
      const std::size_t blank = line.rfind(' ', kWidth);
      if (blank == std::string::npos || blank <= indent.size()) break;
      text += line.substr(0, blank) + '\n';
      line = indent + line.substr(blank + 1);
    }
    text += line + '\n';
  }
  return text;
}

std::string usage_message(const CLI::App& program, const CLI::ParseError& error) {
  const CLI::App& app = innermost(program);
  const std::string what = error.what(), option = what.substr(0, what.find(": "));
  std::string message = what;
  const std::vector<std::string> rest = program.remaining(true);
  const auto unknown = std::find_if(rest.begin(), rest.end(), [](const std::string& word) {
    return word.size() > 1 && word[0] == '-' && word != "--";
  });
  if (unknown != rest.end()) {
    message = unknown_option(app, *unknown);
  } else if (dynamic_cast<const CLI::ExtrasError*>(&error) != nullptr) {
    message = fmt::format("'{}' was not expected", rest.empty() ? what : rest.front());
  } else if (what.ends_with(" missing")) {  // "--alpha: 1 required TEXT missing"
    message = option + " needs a value";
  } else if (what.find(": At Most ") != std::string::npos) {
    message = option + " is given more than once";
  } else if (what.starts_with("A subcommand")) {
    message = "a command is missing";
  }
  if (message.ends_with('?')) return message;
  const std::string name = command_name(program);
  return fmt::format("{}; see fenchel{}{} --help", message, name.empty() ? "" : " ", name);
}

}  // namespace fenchel::cli
