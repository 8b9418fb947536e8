#include "cli/tables/numbers.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <cmath>
#include <string>
#include <string_view>
#include <utility>

#include "cli/program/session.hpp"
#include "fenchel/data/number.hpp"

namespace fenchel::cli {
namespace {

std::optional<double> decimal(std::string_view text) {
  if (text.starts_with('+')) text.remove_prefix(1);
  double value = 0;
  if (read_number(text, value) != std::errc() || std::isnan(value)) return std::nullopt;
  return value;
}

std::optional<double> fraction(std::string_view text) {
  const std::size_t bar = text.find('/');
  if (bar == std::string_view::npos) return decimal(text);
  const auto above = decimal(text.substr(0, bar)), below = decimal(text.substr(bar + 1));
  if (!above || !below || *below == 0) return std::nullopt;
  if (std::isinf(*above) && std::isinf(*below)) return std::nullopt;
  return *above / *below;
}

template <class Set>
CLI::Option* add(CLI::App& app, const std::string& name, const std::string& help, const char* text, Set set) {
  return app.add_option_function<std::string>(name, set, help)->option_text(text);
}

}  // namespace

double parse_number(const std::string& option, const std::string& text) {
  const std::optional<double> value = fraction(text);
  if (!value)
    throw UsageError(fmt::format("{}: expected a number such as 1.5, 4/3 or inf, got '{}'", option, text));
  return *value;
}

std::vector<double> parse_numbers(const std::string& option, const std::string& text) {
  std::vector<double> values;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    values.push_back(parse_number(option, text.substr(begin, end - begin)));
    begin = end + 1;
  }
  return values;
}

CLI::Option* add_number(CLI::App& app, const std::string& name, double& value, const std::string& help) {
  return add(app, name, help, "X",
             [name, &value](const std::string& text) { value = parse_number(name, text); });
}

CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& value,
                        const std::string& help) {
  return add(app, name, help, "X",
             [name, &value](const std::string& text) { value = parse_number(name, text); });
}

CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<double>& values,
                         const std::string& help) {
  return add(app, name, help, "X,X,...",
             [name, &values](const std::string& text) { values = parse_numbers(name, text); });
}

CLI::Option* add_whole(CLI::App& app, const std::string& name, std::function<void(std::uint64_t)> set,
                       std::uint64_t least, std::uint64_t most, const std::string& help) {
  return add(app, name, help, "N", [name, set = std::move(set), least, most](const std::string& text) {
    std::uint64_t value = 0;
    const char* end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc() || stop != end || value < least || value > most)
      throw UsageError(
          fmt::format("{}: expected a whole number from {} to {}, got '{}'", name, least, most, text));
    set(value);
  });
}

CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& help) {
  const auto choose = [name, &value, words](const std::string& text) {
    if (std::find(words.begin(), words.end(), text) == words.end())
      throw UsageError(fmt::format("{}: expected one of {}, got '{}'", name, fmt::join(words, ", "), text));
    value = text;
  };
  return add(app, name, help, "NAME", choose)->type_name(fmt::format("{{{}}}", fmt::join(words, ",")));
}

}  // namespace fenchel::cli
