#include "cli/commands/distribution_view.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <optional>

#include "cli/program/session.hpp"
#include "cli/tables/format.hpp"

namespace fenchel::cli {
namespace {

std::string text_of(const std::optional<double>& value) { return short_text(*value); }
std::string text_of(const std::string& text) { return text; }
std::string text_of(const std::vector<double>& values) {
  std::vector<std::string> texts;
  for (const double value : values) texts.push_back(short_text(value));
  return texts.size() == 1 ? texts[0] : fmt::format("({})", fmt::join(texts, ", "));
}

}  // namespace

std::string title_of(const FamilyOptions& family) {
  std::string parts;
  for_each_parameter([&](const std::string&, const std::string& symbol, auto member) {
    if (!symbol.empty() && is_given(family.*member))
      parts += fmt::format("{}{} = {}", parts.empty() ? ": " : ", ", symbol, text_of(family.*member));
  });
  return family.family + parts;
}

IntegerRange integers_in(const plot::Range& range) {
  constexpr index_t kMost = 2000;
  if (range.high - range.low > kMost)
    throw UsageError(
        fmt::format("more than {} integers cannot be told apart; choose some with --range", kMost));
  return {static_cast<index_t>(std::ceil(range.low)), static_cast<index_t>(std::floor(range.high))};
}

}  // namespace fenchel::cli
