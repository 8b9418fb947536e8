#include "fenchel/data/csv_source.hpp"

#include <algorithm>
#include <mutex>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/byte_source.hpp"
#include "data/column_names.hpp"
#include "data/csv_row.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";
constexpr index_t kScan = index_t{1} << 16;  // bytes to look at together where lines are counted or ended
constexpr index_t kLine = index_t{1} << 10;  // and first, where one is ended: few lines are longer

std::string_view text_of(const detail::FileWindow& window) {
  return {window.bytes.data(), window.bytes.size()};
}

bool is_mark(char c) {
  const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  return c > ' ' && c < 127 && !letter && std::string_view("\"+-.").find(c) == std::string_view::npos;
}

void check(const CsvOptions& options) {
  const auto refuse = [](std::string_view what, std::string_view constraint, char got) {
    throw_invalid_argument("csv_source", what, constraint, detail::shown({&got, 1}));
  };
  const char separator = options.separator.value_or('\t'), comment = options.comment.value_or('#');
  if (separator != '\t' && separator != ' ' && !is_mark(separator))
    refuse("separator", "must be a blank, a tab or punctuation other than \" + - .", separator);
  if (options.decimal != '.' && options.decimal != ',') refuse("decimal", "must be . or ,", options.decimal);
  if (separator == options.decimal) refuse("separator", "must differ from the decimal", separator);
  if (!is_mark(comment)) refuse("comment", "must be punctuation other than \" + - .", comment);
  if (options.comment && (comment == separator || comment == options.decimal))
    refuse("comment", "must differ from the separator and the decimal", comment);
  if (options.batch_bytes < 1)
    throw_invalid_argument("csv_source", "batch_bytes", "must be positive", options.batch_bytes);
}

/// The separator of a file, by its first line: the first of some that stands there outside of quotes.
char separator_in(std::string_view line, const CsvOptions& options) {
  const auto stands = [&](char separator) {
    bool quoted = false;
    for (const char c : line) {
      quoted ^= c == '"';
      if (c == separator && !quoted) return true;
    }
    return false;
  };
  const std::string_view candidates = options.decimal == ',' ? ";\t" : ",\t;";
  const auto found = std::find_if(candidates.begin(), candidates.end(), [&](char separator) {
    return separator != options.comment && stands(separator);
  });
  return found == candidates.end() ? candidates[0] : *found;
}

/// A file whose lines end with CR alone, or that holds no text, would otherwise be a header without rows.
void check_names(const std::vector<std::string>& names) {
  for (std::size_t j = 0; j < names.size(); ++j) {
    if (std::any_of(names[j].begin(), names[j].end(), [](char c) { return c >= 0 && c < ' ' && c != '\t'; }))
      throw detail::CsvFault{static_cast<index_t>(j) + 1,
                             "a name must hold no control characters (lines end with LF or CRLF), got " +
                                 detail::shown(names[j])};
  }
}

/// Where the line breaks begin that end the file.
index_t content_end(const detail::ByteSource& file, index_t begin) {
  for (index_t end = file.size(); end > begin;) {
    const index_t from = std::max(begin, end - kScan);
    const detail::FileWindow window = file.window(from, end);
    const std::size_t last = text_of(window).find_last_not_of("\r\n");
    if (last != std::string_view::npos) return from + static_cast<index_t>(last) + 1;
    end = from;
  }
  return begin;
}

}  // namespace

/// The lines that begin in one batch: they lie next to each other, the last one with or without its end.
struct CsvSource::Lines {
  detail::FileWindow window;
  index_t begin = 0;  // in the file

  [[nodiscard]] const char* first() const { return window.bytes.data(); }
  [[nodiscard]] const char* end() const { return first() + window.bytes.size(); }
  [[nodiscard]] index_t offset_of(const char* p) const { return begin + (p - first()); }
};

/// A line, and where the next one begins.
struct CsvSource::Line {
  std::string text;
  index_t begin, next;
};

/// In how many rows a value is missing, counted when it is asked for.
struct CsvSource::Missing {
  std::once_flag counted;
  std::string rows;  ///< ", in 2 of 7 rows"
};

CsvSource::CsvSource(std::string path, CsvOptions options)
    : CsvSource(detail::open_bytes(path, options.name.empty() ? path : options.name), std::move(options)) {}

CsvSource CsvSource::in_memory(std::span<const char> text, std::string name, CsvOptions options) {
  return {detail::open_bytes(text, std::move(name)), std::move(options)};
}

CsvSource::~CsvSource() = default;

CsvSource::CsvSource(std::unique_ptr<const detail::ByteSource> file, CsvOptions options)
    : file_(std::move(file)), options_(std::move(options)), missing_(std::make_unique<Missing>()) {
  check(options_);
  const auto mark = static_cast<index_t>(kByteOrderMark.size());
  if (file_->size() >= mark && text_of(file_->window(0, mark)) == kByteOrderMark) begin_ = mark;
  options_.batch_bytes = std::min(options_.batch_bytes, std::max<index_t>(1, file_->size()));
  end_ = content_end(*file_, begin_);
  row_ = std::make_unique<detail::CsvRow>();
  row_->marks = {.decimal = options_.decimal, .comment = options_.comment.value_or('\n')};
  row_->skip_missing = options_.skip_missing;
  const Line first = row_at(begin_);
  if (first.begin == end_) file_->refuse("is empty");
  row_->marks.separator = options_.separator.value_or(separator_in(first.text, options_));
  first_ = first.begin;
  begin_ = options_.header ? first.next : first.begin;
  try {
    std::vector<std::string> header = detail::csv_fields(first.text, row_->marks);
    if (!options_.header) {
      for (std::size_t j = 0; j < header.size(); ++j) header[j] = shortest(static_cast<index_t>(j));
    }
    check_names(header);
    select(header);
  } catch (const detail::CsvFault& fault) {
    throw DataError(place_at(first_, fault.field) + ": " + fault.complaint);
  }
}

/// The first row that begins at `from`, where a line does, or behind it; at the end it is empty.
CsvSource::Line CsvSource::row_at(index_t from) const {
  while (from < end_) {
    const index_t stop = line_end(from, std::min(end_, from + detail::kMaxLine + 2));  // with CR
    const detail::FileWindow window = file_->window(from, stop);
    const index_t next = std::min(stop + 1, end_);
    try {
      const char* const text = window.bytes.data();
      const std::string_view line = detail::line_at(text, text + window.bytes.size());
      if (!detail::is_no_row(line, row_->marks)) return {std::string(line), from, next};
    } catch (const detail::CsvFault& fault) {
      throw DataError(place_at(from, fault.field) + ": " + fault.complaint);
    }
    from = next;
  }
  return {{}, end_, end_};
}

/// Which fields hold text: it is in some of the first rows, and no number is.
std::vector<bool> CsvSource::find_text(std::size_t fields) const {
  constexpr int kRows = 100;
  std::vector<bool> text(fields), number(fields);
  index_t from = begin_;
  for (int r = 0; r < kRows && from < end_; ++r) {
    const Line line = row_at(from);
    const std::vector<std::string> values = detail::csv_fields(line.text, row_->marks);
    for (std::size_t j = 0; j < std::min(fields, values.size()); ++j) {
      if (detail::is_missing(values[j])) continue;
      (detail::is_text(values[j]) ? text : number)[j] = true;
    }
    from = line.next;
  }
  for (std::size_t j = 0; j < fields; ++j) text[j] = text[j] && !number[j];
  return text;
}

/// Takes all columns but the weight, and those that hold text unless all do: then the first of them is at
/// fault.
void CsvSource::choose_columns(const std::vector<std::string>& header) {
  const std::vector<bool> text =
      options_.skip_text ? find_text(header.size()) : std::vector<bool>(header.size());
  std::vector<std::string> all;
  for (std::size_t j = 0; j < header.size(); ++j) {
    if (!options_.weight.empty() && header[j] == options_.weight) continue;
    all.push_back(header[j]);
    (text[j] ? text_columns_ : names_).push_back(header[j]);
  }
  if (all.empty()) file_->refuse("has no column besides the weight");
  if (!names_.empty()) return;
  names_ = all;
  text_columns_.clear();
}

/// Says which fields are read and where they go; the weight goes behind the values.
void CsvSource::select(const std::vector<std::string>& header) {
  std::vector<std::string> sorted = header;
  std::sort(sorted.begin(), sorted.end());
  const auto twice = std::adjacent_find(sorted.begin(), sorted.end());
  if (twice != sorted.end()) {
    const auto first = std::find(header.begin(), header.end(), *twice);
    const auto second = std::find(first + 1, header.end(), *twice);
    throw detail::CsvFault{second - header.begin() + 1, "column '" + *twice + "' appears twice"};
  }

  names_ = options_.columns;
  if (names_.empty()) choose_columns(header);

  std::vector<std::string> selected = names_;
  if (!options_.weight.empty()) selected.push_back(options_.weight);
  width_ = static_cast<index_t>(selected.size());
  row_->width = width_;
  row_->maskable = options_.masks ? std::ssize(names_) : 0;
  row_->places.assign(header.size(), detail::CsvRow::kSkipped);
  std::unordered_map<std::string_view, std::size_t> fields;
  for (std::size_t j = 0; j < header.size(); ++j) fields.emplace(header[j], j);
  for (std::size_t j = 0; j < selected.size(); ++j) {
    const auto found = fields.find(selected[j]);
    if (found == fields.end())
      file_->refuse("has no column '" + selected[j] + "'; its columns are " + detail::listed(header));
    index_t& place = row_->places[found->second];
    if (place != detail::CsvRow::kSkipped)
      throw_invalid_argument("csv_source", "columns and weight", "must be different",
                             "'" + selected[j] + "' twice");
    place = static_cast<index_t>(j);
  }
}

index_t CsvSource::batches() const noexcept {
  return (end_ - begin_ + options_.batch_bytes - 1) / options_.batch_bytes;
}

/// The first line break in [from, limit), or limit.
index_t CsvSource::line_end(index_t from, index_t limit) const {
  for (index_t scan = kLine; from < limit; scan = std::min(2 * scan, kScan)) {
    const index_t to = std::min(limit, from + scan);
    const detail::FileWindow window = file_->window(from, to);
    const std::size_t found = text_of(window).find('\n');
    if (found != std::string_view::npos) return from + static_cast<index_t>(found);
    from = to;
  }
  return limit;
}

/// A line that is longer than may be is cut, but still too long.
CsvSource::Lines CsvSource::lines_of(index_t batch) const {
  const index_t from = begin_ + batch * options_.batch_bytes;
  const index_t to = std::min(end_, from + options_.batch_bytes);
  const index_t first = batch == 0 ? from : line_end(from - 1, to) + 1;
  if (first >= to) return {};
  const index_t stop = line_end(to - 1, std::min(end_, to + detail::kMaxLine + 1));
  return {file_->window(first, std::min(end_, stop + 1)), first};
}

/// CsvRow::read, with errors that name the place.
index_t CsvSource::read_rows(const Lines& lines, detail::CsvPlace& place, double* rows, index_t most) const {
  try {
    return row_->read(place, lines.end(), rows, most);
  } catch (const detail::CsvFault& fault) {
    throw DataError(place_at(lines.offset_of(place.line), fault.field) + ": " + fault.complaint +
                    (fault.complaint == detail::kMissing ? missing_rows() : ""));
  }
}

void CsvSource::read(index_t i, Batch& batch) const {
  std::vector<double>& storage = batch.storage;
  const auto width = static_cast<std::size_t>(width_);
  const Lines lines = lines_of(i);
  std::size_t rows = 0;
  for (detail::CsvPlace place{lines.first(), lines.first()}; place.next != lines.end();) {
    if (storage.size() < (rows + 1) * width) storage.resize(2 * (rows + 1) * width);
    const auto most = static_cast<index_t>(storage.size() / width - rows);
    rows += static_cast<std::size_t>(read_rows(lines, place, storage.data() + rows * width, most));
  }
  batch.owner.reset();
  batch.weights = {};
  if (!options_.weight.empty()) {
    storage.resize(std::max(storage.size(), rows * (width + 1)));
    for (std::size_t r = 0; r < rows; ++r) storage[rows * width + r] = storage[(r + 1) * width - 1];
    batch.weights = std::span(storage).subspan(rows * width, rows);
  }
  batch.rows = {storage.data(), static_cast<index_t>(rows), columns(), width_};
}

std::string CsvSource::place(index_t batch, index_t row, index_t column) const {
  std::vector<double> values(static_cast<std::size_t>(width_));
  const Lines lines = lines_of(batch);
  detail::CsvPlace place{lines.first(), lines.first()};
  for (index_t r = 0; r <= row && place.next != lines.end(); ++r)
    static_cast<void>(read_rows(lines, place, values.data(), 1));
  const index_t at = place.line == nullptr ? begin_ : lines.offset_of(place.line);
  const auto& places = row_->places;
  const index_t wanted = column == kWeightColumn ? width_ - 1 : column;
  return place_at(at, std::find(places.begin(), places.end(), wanted) - places.begin() + 1);
}

index_t CsvSource::line_number(index_t offset) const {
  index_t line = 1;
  for (index_t from = 0; from < offset; from += kScan) {
    const detail::FileWindow window = file_->window(from, std::min(offset, from + kScan));
    line += std::count(window.bytes.begin(), window.bytes.end(), '\n');
  }
  return line;
}

std::string CsvSource::place_at(index_t offset, index_t field) const {
  return file_->name() + ":" + shortest(line_number(offset)) + ":" + shortest(field);
}

char CsvSource::separator() const noexcept { return row_->marks.separator; }
index_t CsvSource::first_line() const { return line_number(first_); }

/// "" where a line is at fault in another way, too, and where masks may be missing.
const std::string& CsvSource::missing_rows() const {
  constexpr index_t kMostBytes = index_t{1} << 26;
  std::call_once(missing_->counted, [&] {
    if (options_.masks) return;
    detail::CsvRow complete = *row_;
    complete.skip_missing = true;
    std::vector<double> values(static_cast<std::size_t>(width_));
    index_t rows = 0, missing = 0, batch = 0;
    try {
      for (; batch < batches() && batch * options_.batch_bytes < kMostBytes; ++batch) {
        const Lines lines = lines_of(batch);
        for (const char* p = lines.first(); p != lines.end();) {
          const std::string_view line = detail::line_at(p, lines.end());
          const char* const next = std::find(line.data() + line.size(), lines.end(), '\n');
          detail::CsvPlace place{p, p};
          p = next == lines.end() ? next : next + 1;
          if (detail::is_no_row(line, row_->marks)) continue;
          ++rows;
          missing += complete.read(place, p, values.data(), 1) == 0;
        }
      }
    } catch (const detail::CsvFault&) {
      return;
    }
    missing_->rows = ", in " + shortest(missing) + (batch < batches() ? " of the first " : " of ") +
                     shortest(rows) + " rows";
  });
  return missing_->rows;
}

}  // namespace fenchel
