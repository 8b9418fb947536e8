#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
}  // namespace CLI

namespace fenchel::cli {

/// A number as a person writes it: 1.5, 4/3, 1e-3, inf, -inf. Throws UsageError that names the option.
[[nodiscard]] double parse_number(const std::string& option, const std::string& text);
/// Several, with commas between them.
[[nodiscard]] std::vector<double> parse_numbers(const std::string& option, const std::string& text);

/// Options that take such numbers, one or a list with commas.
CLI::Option* add_number(CLI::App& app, const std::string& name, double& value, const std::string& help);
CLI::Option* add_number(CLI::App& app, const std::string& name, std::optional<double>& value,
                        const std::string& help);
CLI::Option* add_numbers(CLI::App& app, const std::string& name, std::vector<double>& values,
                         const std::string& help);

/// An option that takes a whole number from `least` to `most`.
CLI::Option* add_whole(CLI::App& app, const std::string& name, std::function<void(std::uint64_t)> set,
                       std::uint64_t least, std::uint64_t most, const std::string& help);
/// An option that takes one of these words.
CLI::Option* add_choice(CLI::App& app, const std::string& name, std::string& value,
                        const std::vector<std::string>& words, const std::string& help);

}  // namespace fenchel::cli
