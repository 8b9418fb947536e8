#include "cli/tables/model_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <fstream>
#include <system_error>

#include "cli/tables/format.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

constexpr int kMatrix = 2;  // lists within each other, at most

/// What messages show of a value.
std::string shown(const Record& value) {
  constexpr std::size_t kMost = 40;
  if (value.is_object()) return "an object";
  if (value.is_array()) return value.empty() ? "an empty list" : "a list";
  const std::string text = json_text(value);
  return text.size() <= kMost ? text : text.substr(0, kMost) + "...";
}

/// The message of the parser without its own name, and without the bytes that it read.
std::string plain(std::string message) {
  message.erase(std::min(message.find("; last read: "), message.size()));
  const std::size_t end = message.find("] ");
  return message.starts_with('[') && end != std::string::npos ? message.substr(end + 2) : message;
}

Record parse(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) throw DataError("cannot read " + path + ": " + std::generic_category().message(errno));
  try {
    return Record::parse(file);
  } catch (const Record::exception& error) {
    throw DataError(path + ": is no model: " + plain(error.what()));
  }
}

}  // namespace

void print_model(const Session& session, std::string_view kind, const Record& record) {
  if (form_of(session, false) != Form::json) return print(session, record);
  Record model{{"schema", kModelSchema}, {"kind", kind}};
  model.update(record);
  print(session, model);
}

std::vector<std::string> ModelPart::keys() const {
  std::vector<std::string> keys;
  for (const auto& [key, value] : object_.items()) keys.push_back(key);
  return keys;
}

void ModelPart::fail(const std::string& key, std::string_view constraint) const {
  const auto found = object_.find(key);
  throw DataError(fmt::format(
      "{}: {}{} {}", file_, key_, key,
      found == object_.end() ? "is missing" : fmt::format("must be {}, got {}", constraint, shown(*found))));
}

const Record& ModelPart::at(const std::string& key) const {
  const auto found = object_.find(key);
  if (found == object_.end()) fail(key, "");
  return *found;
}

ModelPart ModelPart::part(const std::string& key) const {
  if (!at(key).is_object()) fail(key, "an object");
  return {file_, key_ + key + '.', at(key)};
}

std::string ModelPart::text(const std::string& key) const {
  if (!at(key).is_string()) fail(key, "a text");
  return at(key).get<std::string>();
}

double ModelPart::finite(const std::string& key) const {
  if (!at(key).is_number() || !std::isfinite(at(key).get<double>())) fail(key, "a finite number");
  return at(key).get<double>();
}

void ModelPart::append_numbers(const std::string& key, const Record& value, int depth,
                               std::vector<double>& values) const {
  if (value.is_array() && depth < kMatrix) {
    for (const Record& entry : value) append_numbers(key, entry, depth + 1, values);
  } else if (value.is_number()) {
    values.push_back(value.get<double>());
  } else if (value == "inf" || value == "-inf") {
    values.push_back(value == "inf" ? kInfinity : -kInfinity);
  } else {
    fail(key, depth == 0 ? R"(a number, "inf" or "-inf", or a list of them)" : "a list of numbers");
  }
}

std::vector<double> ModelPart::numbers(const std::string& key) const {
  std::vector<double> values;
  append_numbers(key, at(key), 0, values);
  if (values.empty()) fail(key, "a list of numbers");
  return values;
}

ModelPart open_model(const std::string& path, std::string_view kind) {
  const Record model = parse(path);
  const auto schema = model.is_object() ? model.find("schema") : model.end();
  const bool any = schema != model.end() && schema->is_string() &&
                   schema->get<std::string>().starts_with("fenchel-model-");
  if (!any)
    throw DataError(path +
                    ": is no model: it has no schema; -o FILE.json of fenchel fit and fenchel regress "
                    "writes models");
  ModelPart whole(path, "", model);
  if (*schema != kModelSchema) whole.fail("schema", fmt::format("\"{}\"", kModelSchema));
  if (whole.text("kind") != kind)
    whole.fail("kind", fmt::format("\"{}\", as fenchel {} writes it", kind,
                                   kind == kRegressionModel ? "regress" : "fit"));
  return whole;
}

}  // namespace fenchel::cli
