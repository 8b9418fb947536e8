#include "cli/commands/compare.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <array>
#include <string>
#include <utility>
#include <vector>

#include "cli/families/family.hpp"
#include "cli/program/progress.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/output.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "cli/tables/text_table.hpp"
#include "fenchel/estimate/goodness/compare.hpp"

namespace fenchel::cli {
namespace {

Candidate find_candidate(const std::string& name) {
  for (const Family& family : families()) {
    if (family.defaults.family != name || family.fit.candidate == nullptr) continue;
    FamilyOptions shape = family.defaults;
    if (family.fit.estimates) shape.alpha = shape.kappa = std::nullopt;
    return family.fit.candidate(name, shape);
  }
  throw UsageError(fmt::format("--compare: none is called '{}'; choose from {}", name,
                               fmt::join(comparable_families(), ", ")));
}

/// The numbers of a score, by the names of their columns.
std::array<std::pair<const char*, double>, 7> numbers(const HeldOutScore& score) {
  return {{{"crps", score.crps},
           {"crps_difference", score.crps_difference.value},
           {"crps_error", score.crps_difference.standard_error},
           {"log_score", score.log_score},
           {"log_difference", score.log_difference.value},
           {"log_error", score.log_difference.standard_error},
           {"outside", score.outside}}};
}

Record to_record(const Comparison& found, index_t folds) {
  Record scores = Record::array(), close = Record::array();
  for (const HeldOutScore& score : found.scores) {
    Record line = {{"family", score.name}};
    for (const auto& [name, value] : numbers(score)) line[name] = number(value);
    if (!score.failure.empty()) line["failure"] = score.failure;
    scores.push_back(std::move(line));
    if (score.close && &score != &found.scores[0]) close.push_back(score.name);
  }
  return {{"winner", found.scores[0].name},
          {"close", close},
          {"weight", number(found.weight)},
          {"folds", folds},
          {"scores", scores}};
}

/// A line for each family: aligned for eyes, which the winner is told too, else CSV.
std::string to_text(const Comparison& found, bool terminal) {
  std::vector<std::vector<std::string>> lines{{"family"}};
  for (const auto& [name, value] : numbers(found.scores[0])) lines[0].emplace_back(name);
  std::vector<std::string> close;
  for (const HeldOutScore& score : found.scores) {
    lines.push_back({score.name});
    for (const auto& [name, value] : numbers(score)) lines.back().push_back(table_number(value, terminal));
    if (score.close && &score != &found.scores[0]) close.push_back(score.name);
  }
  std::string text = text_table(lines, terminal);
  if (!terminal) return text;
  text += fmt::format("winner: {}", found.scores[0].name);
  if (!close.empty())
    text += fmt::format("; less than two standard errors behind: {}", fmt::join(close, ", "));
  return text + '\n';
}

}  // namespace

std::vector<std::string> comparable_families() {
  std::vector<std::string> names;
  for (const Family& family : families())
    if (family.fit.candidate != nullptr) names.push_back(family.defaults.family);
  return names;
}

void run_compare(const Session& session, const InputOptions& options, std::vector<std::string> names,
                 index_t folds) {
  if (names.empty()) names = kUsualFamilies;
  std::vector<Candidate> candidates;
  for (const std::string& name : names) candidates.push_back(find_candidate(name));
  const SharedInput input(session, options);
  const auto columns = input.part().names();
  if (columns.size() > 1)
    throw UsageError(fmt::format("--compare: families are of one column, {} has '{}'; choose with --columns",
                                 input.name(), fmt::join(columns, "', '")));
  Comparison found;
  ProgressMeter meter(session, "fit");
  blame(fmt::format("{}: column '{}'", input.name(), columns[0]), [&] {
    found = compare(candidates, {input.part(), *session.processes, meter.callback()},
                    {.folds = folds, .seed = session.seed});
  });
  meter.wipe();
  if (!session.speaks()) return;
  for (const HeldOutScore& score : found.scores)
    if (!score.failure.empty() && !session.quiet)
      fmt::print(stderr, "fenchel fit: warning: {} has no fit: {}\n", score.name, score.failure);
  const Form form = form_of(session, session.result->is_terminal());
  if (form == Form::json) return print(session, to_record(found, folds));
  session.result->write(to_text(found, form == Form::table));
  session.result->finish();
}

}  // namespace fenchel::cli
