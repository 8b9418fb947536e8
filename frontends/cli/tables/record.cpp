#include "cli/tables/record.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "cli/tables/format.hpp"
#include "cli/tables/output.hpp"

namespace fenchel::cli {
namespace {

using Entries = std::vector<std::pair<std::string, std::string>>;

void flatten(const Record& part, const std::string& name, bool terminal, Entries& entries) {
  if (part.is_structured()) {
    for (const auto& [key, value] : part.items()) {
      flatten(value, name.empty() ? key : name + '.' + key, terminal, entries);
    }
  } else if (part.is_number_float()) {
    entries.emplace_back(name, (terminal ? short_text : shortest_text)(part.get<double>()));
  } else {
    entries.emplace_back(name, part.is_string() ? part.get<std::string>() : part.dump());
  }
}

void drop_signs_of_zero(Record& part) {
  if (part.is_structured()) {
    for (Record& inner : part) drop_signs_of_zero(inner);
  } else if (part.is_number_float()) {
    part = without_sign_of_zero(part.get<double>());
  }
}

}  // namespace

Record number(double value) {
  if (std::isfinite(value)) return without_sign_of_zero(value);
  return shortest_text(value);
}

std::string json_text(Record record, int indent) {
  drop_signs_of_zero(record);
  return record.dump(indent, ' ', false, Record::error_handler_t::replace);
}

void check_form(const Session& session) {
  if (form_of(session, false) == Form::npy)
    throw UsageError("--output: a result with names has no .npy form; use .json or .csv");
}

void print(const Session& session, const Record& record) {
  check_form(session);
  if (!session.speaks()) return;
  Output& output = *session.result;
  const Form form = form_of(session, output.is_terminal());
  if (form == Form::json) {
    output.write(json_text(record, 2) + '\n');
    return output.finish();
  }
  Entries entries;
  flatten(record, "", form == Form::table, entries);
  std::size_t width = 0;
  for (const auto& [name, value] : entries) width = std::max(width, name.size());
  if (form == Form::csv) output.write("name,value\n");
  for (const auto& [name, value] : entries) {
    output.write(form == Form::csv ? csv_field(name) + ',' + csv_field(value) + '\n'
                                   : fmt::format("{:<{}}  {}\n", name, width, value));
  }
  output.finish();
}

}  // namespace fenchel::cli
