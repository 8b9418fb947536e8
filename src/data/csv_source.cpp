#include "fenchel/data/csv_source.hpp"

#include <algorithm>
#include <cstring>
#include <string_view>
#include <unordered_map>
#include <utility>

#include "data/column_names.hpp"
#include "data/csv_row.hpp"
#include "data/file_bytes.hpp"
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

void check(const CsvOptions& options) {
  const char c = options.separator;
  const bool letter = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
  if (c != '\t' &&
      (c <= ' ' || c >= 127 || letter || std::string_view("\"+-.").find(c) != std::string_view::npos))
    throw_invalid_argument("csv_source", "separator", "must be a tab or punctuation other than \" + - .",
                           detail::shown({&c, 1}));
  if (options.batch_bytes < 1)
    throw_invalid_argument("csv_source", "batch_bytes", "must be positive", options.batch_bytes);
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
index_t content_end(const detail::FileBytes& file, index_t begin) {
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

CsvSource::CsvSource(std::string path, CsvOptions options)
    : CsvSource(std::make_unique<const detail::FileBytes>(std::move(path)), std::move(options)) {}

CsvSource CsvSource::in_memory(std::span<const char> text, std::string name, CsvOptions options) {
  return {std::make_unique<const detail::FileBytes>(std::move(name), text), std::move(options)};
}

CsvSource::~CsvSource() = default;

CsvSource::CsvSource(std::unique_ptr<const detail::FileBytes> file, CsvOptions options)
    : file_(std::move(file)), options_(std::move(options)) {
  check(options_);
  const auto mark = static_cast<index_t>(kByteOrderMark.size());
  if (file_->size() >= mark && text_of(file_->window(0, mark)) == kByteOrderMark) begin_ = mark;
  options_.batch_bytes = std::min(options_.batch_bytes, std::max<index_t>(1, file_->size()));
  end_ = content_end(*file_, begin_);
  if (begin_ == end_) file_->refuse("is empty");
  const index_t stop = line_end(begin_, std::min(end_, begin_ + detail::kMaxLine + 2));  // with CR
  try {
    const detail::FileWindow window = file_->window(begin_, stop);
    const std::string_view text = text_of(window);
    const std::string_view line = detail::line_at(text.data(), text.data() + text.size());
    std::vector<std::string> header = detail::csv_fields(line, options_.separator);
    if (!options_.header) {
      for (std::size_t j = 0; j < header.size(); ++j) header[j] = shortest(static_cast<index_t>(j));
    }
    check_names(header);
    select(header);
  } catch (const detail::CsvFault& fault) {
    throw DataError(place_at(begin_, fault.field) + ": " + fault.complaint);
  }
  if (options_.header) begin_ = std::min(stop + 1, end_);
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
  if (names_.empty())
    std::copy_if(header.begin(), header.end(), std::back_inserter(names_),
                 [&](const std::string& name) { return options_.weight.empty() || name != options_.weight; });
  if (names_.empty()) file_->refuse("has no column besides the weight");

  std::vector<std::string> selected = names_;
  if (!options_.weight.empty()) selected.push_back(options_.weight);
  width_ = static_cast<index_t>(selected.size());
  row_ = std::make_unique<detail::CsvRow>(detail::CsvRow{
      options_.separator, options_.skip_missing, width_, options_.masks ? std::ssize(names_) : 0,
      std::vector<index_t>(header.size(), detail::CsvRow::kSkipped)});
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
    throw DataError(place_at(lines.offset_of(place.line), fault.field) + ": " + fault.complaint);
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

std::string CsvSource::place_at(index_t offset, index_t field) const {
  index_t line = 1;
  for (index_t from = 0; from < offset; from += kScan) {
    const detail::FileWindow window = file_->window(from, std::min(offset, from + kScan));
    line += std::count(window.bytes.begin(), window.bytes.end(), '\n');
  }
  return file_->name() + ":" + shortest(line) + ":" + shortest(field);
}

}  // namespace fenchel
