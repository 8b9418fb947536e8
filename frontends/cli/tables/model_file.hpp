#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/record.hpp"

namespace fenchel::cli {

/// The JSON of a model, docs/design.md "Models": its first key says so, with the version, and the next what
/// kind of model it is.
inline constexpr std::string_view kModelSchema = "fenchel-model-1";
inline constexpr std::string_view kDistributionModel = "distribution", kRegressionModel = "regression";

/// As print does, with both keys where it is JSON: then it is a model that open_model reads.
void print_model(const Session& session, std::string_view kind, const Record& record);

/// An object of JSON within a model file. Its messages name the file and the key: "model.json:
/// parameters.mu must be a number, got a list". They are thrown as DataError.
class ModelPart {
 public:
  ModelPart(std::string file, std::string key, Record object)
      : file_(std::move(file)), key_(std::move(key)), object_(std::move(object)) {}

  [[nodiscard]] const std::string& file() const noexcept { return file_; }
  [[nodiscard]] bool has(const std::string& key) const { return object_.contains(key); }
  [[nodiscard]] std::vector<std::string> keys() const;

  /// A value that must be there.
  [[nodiscard]] const Record& at(const std::string& key) const;
  [[nodiscard]] ModelPart part(const std::string& key) const;
  [[nodiscard]] std::string text(const std::string& key) const;
  [[nodiscard]] double finite(const std::string& key) const;
  /// One number or a list of them; a matrix row by row. Infinity is "inf".
  [[nodiscard]] std::vector<double> numbers(const std::string& key) const;

  [[noreturn]] void fail(const std::string& key, std::string_view constraint) const;

 private:
  void append_numbers(const std::string& key, const Record& value, int depth,
                      std::vector<double>& values) const;

  std::string file_, key_;  // the key has a dot at its end, or is empty
  Record object_;
};

/// Reads a file that fenchel fit or fenchel regress wrote. Throws DataError for what is no model of this
/// version and kind.
[[nodiscard]] ModelPart open_model(const std::string& path, std::string_view kind);

}  // namespace fenchel::cli
