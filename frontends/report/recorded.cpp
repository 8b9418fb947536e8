#include "report/recorded.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <nlohmann/json.hpp>
#include <set>
#include <stdexcept>
#include <tuple>

#include "report/recorded_files.hpp"

namespace fenchel::report {
namespace {

using Json = nlohmann::ordered_json;

std::optional<plot::Range> interval(const Json& ends) {
  if (ends.is_null()) return {};
  return plot::Range{ends.at(0), ends.at(1)};
}

void add_once(std::vector<std::string>& list, const std::string& text) {
  if (!std::ranges::count(list, text)) list.push_back(text);
}

std::size_t distinct(const Json& runs, const char* key) {
  std::set<int> found;
  for (const Json& run : runs) found.insert(run.at(key).get<int>());
  return found.size();
}

const Json& run_of(const Json& content, const Json& summary) {
  return *std::ranges::find_if(content.at("rows"), [&](const Json& row) {
    return row.at("data") == summary.at("data") && row.at("name") == summary.at("name");
  });
}

RecordedRow row_of(const Json& summary, const Json& runs) {
  RecordedRow row{summary.at("data"),
                  summary.at("name"),
                  summary.at("label"),
                  summary.at("group"),
                  distinct(runs, "unit"),
                  distinct(runs, "seed"),
                  {}};
  for (const auto& [name, value] : summary.at("values").items())
    row.values.emplace_back(
        name, Measured{value.at("mean"), value.at("deviation"), interval(value.at("interval"))});
  return row;
}

// The place of the first word that the text starts with; their number if there is none.
template <std::size_t N>
std::size_t place_of(std::string_view text, const std::array<std::string_view, N>& words) {
  const auto* found =
      std::ranges::find_if(words, [&](std::string_view word) { return text.starts_with(word); });
  return static_cast<std::size_t>(found - words.begin());
}

// The paper's models first, discrete before continuous ones, with rising alpha; then the others.
auto order(const RecordedRow& row) {
  using Words = std::string_view;
  constexpr std::array kGroups = {Words("paper"), Words("control"), Words("ablation"), Words("floor")};
  constexpr std::array kKinds = {Words("discrete_"), Words("continuous_"), Words("both_")};
  constexpr std::array kAlphas = {Words("1"), Words("4_3"), Words("3_2"), Words("2")};
  const std::string_view alpha = std::string_view(row.name).substr(row.name.find('_') + 1);
  return std::tuple(place_of(row.group, kGroups), place_of(row.name, kKinds), place_of(alpha, kAlphas),
                    row.name.size());
}

}  // namespace

const Measured* RecordedRow::value(std::string_view which) const {
  const auto found = std::ranges::find(values, which, &std::pair<std::string, Measured>::first);
  return found == values.end() ? nullptr : &found->second;
}

std::vector<std::string> Recorded::data() const {
  std::vector<std::string> found;
  for (const RecordedRow& each : rows) add_once(found, each.data);
  return found;
}

std::vector<RecordedRow> Recorded::rows_of(std::string_view data) const {
  std::vector<RecordedRow> found;
  std::ranges::copy_if(rows, std::back_inserter(found),
                       [&](const RecordedRow& each) { return each.data == data; });
  std::ranges::stable_sort(found, {}, order);
  return found;
}

const RecordedRow& Recorded::row(std::string_view data, std::string_view name) const {
  const auto found = std::ranges::find_if(
      rows, [&](const RecordedRow& each) { return each.data == data && each.name == name; });
  if (found == rows.end())
    throw std::out_of_range(
        fmt::format("fenchel::report: {} must have the row {} of {}", experiment, name, data));
  return *found;
}

std::vector<RecordedDifference> Recorded::differences_of(const RecordedRow& row,
                                                         std::string_view value) const {
  std::vector<RecordedDifference> found;
  std::ranges::copy_if(differences, std::back_inserter(found), [&](const RecordedDifference& each) {
    return each.data == row.data && each.row == row.name && each.value == value;
  });
  return found;
}

Recorded read_recorded(std::string_view file) {
  const Json content = Json::parse(recorded_file(file));
  Recorded result{content.at("experiment"), {}, {}, {}, {}};
  for (const Json& summary : content.at("summary"))
    result.rows.push_back(row_of(summary, run_of(content, summary).at("runs")));
  for (const Json& each : content.at("differences"))
    result.differences.push_back({each.at("data"), each.at("row"), each.at("against"), each.at("value"),
                                  each.at("difference"), interval(each.at("interval")),
                                  interval(each.at("interval_over_units"))});
  for (const Json& each : content.at("figures"))
    result.figures.push_back({each.at("file"), each.at("caption")});
  for (const Json& each : content.at("rows")) {
    add_once(result.origin.days, each.at("made").at("day"));
    add_once(result.origin.machines, each.at("made").at("machine"));
    add_once(result.origin.commits, each.at("made").at("commit"));
  }
  std::ranges::sort(result.origin.days);
  return result;
}

}  // namespace fenchel::report
