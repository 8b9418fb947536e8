#include "cli/tables/input.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <fstream>
#include <optional>
#include <string_view>
#include <system_error>

#include "cli/program/interrupt.hpp"
#include "cli/program/session.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/npy_source.hpp"

namespace fenchel::cli {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";

/// All that comes from a file that can be read but once; - is standard input.
std::string read_stream(const std::string& path, const std::string& name) {
  const auto fail = [&] {
    const int reason = errno;
    check_interrupt();
    throw DataError("cannot read " + name + ": " + std::generic_category().message(reason));
  };
  const int stream = path == "-" ? STDIN_FILENO : open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (stream < 0) fail();
  std::string text;
  std::string piece(1 << 16, '\0');
  for (;;) {
    const ssize_t count = read(stream, piece.data(), piece.size());
    if (count == 0) break;
    if (count > 0) text.append(piece, 0, static_cast<std::size_t>(count));
    if (count < 0 && errno != EINTR) fail();
    check_interrupt();
  }
  if (path != "-") close(stream);
  return text;
}

bool is_npy(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  std::string beginning(kNpyMagic.size(), '\0');
  file.read(beginning.data(), static_cast<std::streamsize>(beginning.size()));
  return beginning == kNpyMagic;
}

index_t column_index(const std::string& name) {
  index_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size()) {
    throw UsageError(fmt::format("the columns of a .npy file are called 0, 1, ..., got '{}'", name));
  }
  return index;
}

char separator_of(const std::string& text) {
  if (text == "\\t") return '\t';
  if (text.size() == 1) return text[0];
  throw UsageError(fmt::format("--separator: expected one character, or \\t for a tab, got '{}'", text));
}

CsvOptions csv_options(const InputOptions& options) {
  return {.columns = options.columns,
          .weight = options.weight,
          .separator = options.separator,
          .header = !options.no_header,
          .skip_missing = options.skip_missing,
          .masks = options.masks};
}

/// Throws UsageError for a column that is asked for twice, also as weight.
void check_columns(const InputOptions& options) {
  std::vector<std::string> names = options.columns;
  if (!options.weight.empty()) names.push_back(options.weight);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw UsageError(fmt::format("column '{}' is chosen twice", *twice));
}

NpyOptions npy_options(const InputOptions& options) {
  NpyOptions npy;
  npy.masks = options.masks;
  for (const std::string& name : options.columns) npy.columns.push_back(column_index(name));
  if (!options.weight.empty()) npy.weight = column_index(options.weight);
  return npy;
}

bool is_number(const std::string& text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  return error == std::errc() && end == text.data() + text.size();
}

/// Numbers may be names (of years, say), so this is no error; but a row that is silently lost would be one.
void note_numbers_as_names(const Session& session, const InputOptions& options, const BatchSource& source) {
  const bool chosen = options.no_header || !options.columns.empty() || !options.weight.empty();
  if (chosen || session.quiet || !session.speaks() || !std::ranges::all_of(source.names(), is_number)) return;
  std::fputs(
      fmt::format("fenchel {}: note: {}:1: the columns have numbers for names; --no-header makes a row of "
                  "them\n",
                  session.command, table_name(options.path))
          .c_str(),
      stderr);
}

}  // namespace

void add_input_options(CLI::App& app, InputOptions& options, const std::string& file) {
  app.add_option(file, options.path, "CSV with a header, or .npy; - is standard input")
      ->required()
      ->option_text(file == "FILE" ? " " : "FILE");
  app.add_option_function<std::string>(
         "--separator", [&options](const std::string& text) { options.separator = separator_of(text); },
         "Between the fields of CSV, \\t for a tab (a comma unless given)")
      ->option_text("CHAR");
  app.add_flag("--no-header", options.no_header,
               "The first line holds numbers; columns are called 0, 1, ...");
  app.add_flag("--skip-missing", options.skip_missing, "Leave out rows where a value is missing");
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return path == "-" ||
         (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

std::string table_name(const std::string& path) { return path == "-" ? "standard input" : path; }

Input::Input(const Session& session, const InputOptions& options) {
  check_columns(options);
  const bool stream = is_stream(options.path);
  const std::string name = table_name(options.path);
  if (stream) text_ = read_stream(options.path, name);
  if (stream ? text_.starts_with(kNpyMagic) : is_npy(options.path)) {
    source_ = stream ? std::unique_ptr<NpySource>(
                           new NpySource(NpySource::in_memory(text_, name, npy_options(options))))
                     : std::make_unique<NpySource>(options.path, npy_options(options));
    return;
  }
  source_ =
      stream
          ? std::unique_ptr<CsvSource>(new CsvSource(CsvSource::in_memory(text_, name, csv_options(options))))
          : std::make_unique<CsvSource>(options.path, csv_options(options));
  note_numbers_as_names(session, options, *source_);
}

}  // namespace fenchel::cli
