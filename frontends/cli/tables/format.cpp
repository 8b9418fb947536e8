#include "cli/tables/format.hpp"

#include <fmt/format.h>

#include <cmath>
#include <filesystem>

namespace fenchel::cli {

double without_sign_of_zero(double value) { return value == 0 ? 0 : value; }

std::string shortest_text(double value) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{}", without_sign_of_zero(value));
}

std::string short_text(double value) {
  if (std::isnan(value)) return "nan";
  return fmt::format("{:.6g}", without_sign_of_zero(value));
}

std::string csv_field(std::string_view text) {
  if (text.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(text);
  std::string quoted = "\"";
  for (const char c : text) {
    if (c == '"') quoted += '"';
    quoted += c;
  }
  return quoted + '"';
}

Form form_of(const Session& session, bool terminal) {
  const std::string ending =
      session.output == "-" ? "" : std::filesystem::path(session.output).extension().string();
  if (session.json && (ending == ".csv" || ending == ".npy")) {
    throw UsageError(fmt::format("--json and --output {} ask for two forms; leave one out", session.output));
  }
  if (session.json || ending == ".json") return Form::json;
  if (ending == ".npy") return Form::npy;
  return terminal && session.processes == &Processes::alone() ? Form::table : Form::csv;
}

}  // namespace fenchel::cli
