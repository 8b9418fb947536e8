#include "cli/tables/input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/stat.h>

#include <CLI/App.hpp>
#include <algorithm>
#include <charconv>
#include <span>
#include <system_error>
#include <utility>

#include "cli/tables/numbers.hpp"
#include "fenchel/data/concatenated_source.hpp"
#include "fenchel/data/csv_source.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/data/npy_source.hpp"
#include "fenchel/data/number.hpp"

namespace fenchel::cli {
namespace {

index_t column_index(const std::string& name) {
  index_t index = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), index);
  if (error != std::errc() || end != name.data() + name.size()) {
    throw UsageError(fmt::format("the columns of a .npy file are called 0, 1, ..., got '{}'", name));
  }
  return index;
}

char separator_of(const std::string& text) {
  if (text == "tab" || text == "\\t") return '\t';
  if (text == "space") return ' ';
  if (text.size() == 1) return text[0];
  throw UsageError(fmt::format("--separator: expected one character, tab or space, got '{}'", text));
}

char mark_of(const std::string& option, const std::string& text) {
  if (text.size() == 1) return text[0];
  throw UsageError(fmt::format("{}: expected one character, got '{}'", option, text));
}

CsvOptions csv_options(const InputOptions& options, const std::string& name) {
  return {.columns = options.columns,
          .weight = options.weight,
          .separator = options.separator,
          .decimal = options.decimal,
          .comment = options.comment,
          .header = !options.no_header,
          .skip_missing = options.missing == "drop",
          .skip_text = true,
          .masks = options.masks,
          .name = name};
}

/// Throws UsageError for a column that is asked for twice, also as weight.
void check_columns(const InputOptions& options) {
  std::vector<std::string> names = options.columns;
  if (!options.weight.empty()) names.push_back(options.weight);
  std::sort(names.begin(), names.end());
  const auto twice = std::adjacent_find(names.begin(), names.end());
  if (twice != names.end()) throw UsageError(fmt::format("column '{}' is chosen twice", *twice));
}

NpyOptions npy_options(const InputOptions& options, const std::string& name) {
  NpyOptions npy;
  npy.name = name;
  npy.masks = options.masks;
  for (const std::string& column : options.columns) npy.columns.push_back(column_index(column));
  if (!options.weight.empty()) npy.weight = column_index(options.weight);
  return npy;
}

bool is_number(std::string text, char decimal) {
  double value = 0;
  std::replace(text.begin(), text.end(), decimal, '.');
  return read_number(text, value) == std::errc();
}

/// What a first line says that begins with #, as that of many tables does.
void note_comment(const Session& session, const InputOptions& options, const CsvSource& source,
                  const std::string& name) {
  if (!options.comment && !options.no_header && source.names()[0].starts_with('#'))
    note(session, fmt::format("{}:{}: the names of the columns begin with #; --comment '#' leaves out lines "
                              "that do",
                              name, source.first_line()));
}

/// Numbers may be names, of years say; but a row that is silently lost would be an error.
void check_header(const InputOptions& options, const CsvSource& source, const std::string& name) {
  const bool chosen = options.no_header || !options.columns.empty() || !options.weight.empty();
  if (!chosen && std::ranges::all_of(source.names(), [&](const std::string& column) {
        return is_number(column, options.decimal);
      }))
    throw DataError(
        fmt::format("{}:{}: the names of the columns are numbers; --no-header makes a row of "
                    "this line, --columns chooses columns by these names",
                    name, source.first_line()));
}

void note_recognized(const Session& session, const InputOptions& options, const CsvSource& source,
                     const std::string& name) {
  const char usual = options.decimal == ',' ? ';' : ',';
  if (!options.separator && source.separator() != usual)
    note(session, fmt::format("{}: {} is between the fields; --separator takes another", name,
                              source.separator() == '\t' ? "a tab" : "a semicolon"));
  const std::span<const std::string> text = source.text_columns();
  constexpr std::size_t kListed = 10;
  if (!text.empty())
    note(session, fmt::format("{}: columns that hold text are left out: '{}'{}; --columns chooses", name,
                              fmt::join(text.first(std::min(text.size(), kListed)), "', '"),
                              text.size() > kListed ? ", ..." : ""));
}

}  // namespace

void add_input_options(CLI::App& app, InputOptions& options, const std::string& file) {
  CLI::Option* const files =
      app.add_option(
             file, options.paths,
             "CSV with a header, or .npy, also compressed by gzip or zstd; several are one table; - is "
             "standard input")
          ->required();
  if (file == "FILE") {
    files->option_text("...");
  } else {
    files->option_text("FILE")->allow_extra_args(false);
  }
  app.add_option_function<std::string>(
         "--separator", [&options](const std::string& text) { options.separator = separator_of(text); },
         "Between the fields of CSV: a character, tab, or space for runs of blanks (unless given, a comma, "
         "tab or "
         "semicolon, whichever the first line has)")
      ->option_text("CHAR");
  app.add_option_function<std::string>(
         "--decimal", [&options](const std::string& text) { options.decimal = mark_of("--decimal", text); },
         "The decimal mark of CSV: . or a comma (a point unless given)")
      ->option_text("CHAR");
  app.add_option_function<std::string>(
         "--comment", [&options](const std::string& text) { options.comment = mark_of("--comment", text); },
         "Leave out the lines of CSV that begin with this character")
      ->option_text("CHAR");
  app.add_flag("--no-header", options.no_header, "The first line is a row; columns are called 0, 1, ...");
  add_choice(
      app, "--missing", options.missing, {"refuse", "drop"},
      "Where a value is missing (empty, NA, NaN, null): refuse the table (unless given) or drop the row");
}

bool is_stream(const std::string& path) {
  struct stat status {};
  return path == "-" ||
         (stat(path.c_str(), &status) == 0 && !S_ISREG(status.st_mode) && !S_ISDIR(status.st_mode));
}

std::string table_name(const std::string& path) { return path == "-" ? "standard input" : path; }

std::string table_name(const InputOptions& options) {
  const std::string first = table_name(options.paths.at(0));
  return options.paths.size() == 1 ? first : fmt::format("{} and {} more", first, options.paths.size() - 1);
}

Input::Input(const Session& session, const InputOptions& options) {
  check_columns(options);
  if (std::ranges::count(options.paths, "-") > 1) throw UsageError("FILE: standard input is given twice");
  InputOptions each = options;
  std::vector<std::shared_ptr<const BatchSource>> sources;
  for (const std::string& path : options.paths) {
    sources.push_back(open(session, each, path));
    const auto names = sources.front()->names();
    each.columns.assign(names.begin(), names.end());
  }
  source_ = sources.size() == 1 ? sources[0] : std::make_shared<ConcatenatedSource>(std::move(sources));
}

std::shared_ptr<const BatchSource> Input::open(const Session& session, const InputOptions& options,
                                               const std::string& path) {
  const std::string name = table_name(path);
  std::string file = path;
  std::optional<std::span<const char>> text;
  if (is_stream(path)) {
    streams_.push_back(std::make_unique<const Stream>(path, name));
    file = streams_.back()->path();
    if (file.empty()) text = streams_.back()->text();
  }
  if (text ? NpySource::recognizes(*text, name) : NpySource::recognizes(file, name)) {
    const NpyOptions npy = npy_options(options, name);
    return std::shared_ptr<const BatchSource>(text ? new NpySource(NpySource::in_memory(*text, name, npy))
                                                   : new NpySource(file, npy));
  }
  const CsvOptions csv = csv_options(options, name);
  const std::shared_ptr<const CsvSource> source(text ? new CsvSource(CsvSource::in_memory(*text, name, csv))
                                                     : new CsvSource(file, csv));
  check_header(options, *source, name);
  note_comment(session, options, *source, name);
  note_recognized(session, options, *source, name);
  return source;
}

}  // namespace fenchel::cli
