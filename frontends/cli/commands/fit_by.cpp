#include "cli/commands/fit_by.hpp"

#include <fmt/format.h>

#include <string>
#include <utility>
#include <vector>

#include "cli/program/progress.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/output.hpp"
#include "cli/tables/record.hpp"
#include "cli/tables/shared_input.hpp"
#include "cli/tables/text_table.hpp"

namespace fenchel::cli {
namespace {

std::string cell(const Record& value, bool terminal) {
  return value.is_number() ? table_number(value.get<double>(), terminal) : value.get<std::string>();
}

/// A line for each group; those without a fit have its weight alone.
std::string to_text(const Record& groups, bool terminal) {
  constexpr const char* kScores[] = {"log_likelihood", "crps", "outside", "kolmogorov_smirnov"};
  std::vector<std::vector<std::string>> rows{{"group", "weight"}};
  for (const Record& group : groups) {
    rows.push_back({cell(group["group"], terminal), cell(group["weight"], terminal)});
    if (group.contains("failure")) continue;
    std::vector<std::string> names{"group", "weight"};
    for (const auto& [name, estimate] : group["parameters"].items()) {
      names.push_back(name);
      rows.back().push_back(cell(estimate, terminal));
      if (!group["standard_errors"].contains(name)) continue;
      names.push_back(name + "_error");
      rows.back().push_back(cell(group["standard_errors"][name], terminal));
    }
    for (const char* name : kScores) {
      names.emplace_back(name);
      rows.back().push_back(cell(group[name], terminal));
    }
    rows[0] = std::move(names);
  }
  for (auto& row : rows) row.resize(rows[0].size());
  return text_table(rows, terminal);
}

void warn(const Record& groups) {
  for (const Record& group : groups) {
    const std::string name = cell(group["group"], false);
    if (group.contains("failure"))
      fmt::print(stderr, "fenchel fit: warning: group {} has no fit: {}\n", name,
                 group["failure"].get<std::string>());
    else
      for (const Record& warning : group["warnings"])
        fmt::print(stderr, "fenchel fit: warning: group {}: {}\n", name, warning.get<std::string>());
  }
}

}  // namespace

void run_fit_by(const Session& session, const InputOptions& options, const std::string& by,
                const Family& family, const FamilyOptions& shape) {
  if (options.columns.size() != 1) throw UsageError("--by needs --columns COL, the one column to fit");
  if (family.fit.by == nullptr)
    throw UsageError(
        fmt::format("--by: the family {} needs several passes for each group; choose one that "
                    "moments or counts suffice for",
                    family.defaults.family));
  InputOptions both = options;
  both.columns.push_back(by);
  const SharedInput input(session, both);
  ProgressMeter meter(session, "fit");
  Record groups;
  blame(fmt::format("{}: column '{}'", input.name(), options.columns[0]), [&] {
    groups = family.fit.by(shape, {input.part(), *session.processes, meter.callback()});
  });
  meter.wipe();
  if (!session.speaks()) return;
  if (fixes_alpha(family))
    for (Record& group : groups)
      if (group.contains("parameters")) group["parameters"].erase("alpha");
  if (!session.quiet) warn(groups);
  const Form form = form_of(session, session.result->is_terminal());
  if (form == Form::json)
    return print(session, {{"family", family.defaults.family}, {"by", by}, {"groups", groups}});
  session.result->write(to_text(groups, form == Form::table));
  session.result->finish();
}

}  // namespace fenchel::cli
