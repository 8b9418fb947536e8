#include "data/csv_row.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <span>

#include "data/column_names.hpp"
#include "data/decimal.hpp"
#include "data/field_ends.hpp"
#include "data/text_word.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/data/number.hpp"

namespace fenchel::detail {
namespace {

constexpr const char* kBlankLine = "a line must not be blank";
constexpr std::size_t kShown = 40;  // characters of a bad field in a message

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// Reads the field at p into `text` and returns where it ends: at a separator or at the end of the line.
const char* read_text(const char* p, const char* end, char separator, index_t field, std::string& text) {
  const auto skip_blanks = [&] {
    while (p != end && *p != separator && is_blank(*p)) ++p;
  };
  skip_blanks();
  if (p == end || *p != '"') {
    const char* const stop = std::find(p, end, separator);
    const char* last = stop;
    while (last != p && is_blank(last[-1])) --last;
    text.assign(p, last);
    return stop;
  }
  text.clear();
  while (true) {
    const char* const quote = std::find(++p, end, '"');
    if (quote == end) throw CsvFault{field, "a quote must be closed on its line"};
    text.append(p, quote);
    p = quote + 1;
    if (p == end || *p != '"') break;
    text += '"';
  }
  skip_blanks();
  if (p != end && *p != separator)
    throw CsvFault{field,
                   std::string("expected '") + separator + "' after a quoted field, got " + shown({p, end})};
  return p;
}

/// Calls take(text) for each field of a line.
template <class Take>
void for_each_field(std::string_view line, char separator, const Take& take) {
  if (line.empty()) throw CsvFault{1, kBlankLine};
  const char *p = line.data(), *const end = p + line.size();
  std::string text;
  for (index_t field = 1;; ++field, ++p) {
    p = read_text(p, end, separator, field, text);
    take(text);
    if (p == end) return;
  }
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 4> kMissing = {"", "na", "nan", "null"};
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::any_of(kMissing.begin(), kMissing.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), same);
  });
}

double number_of(std::string_view text, index_t field, bool maskable) {
  double value = 0;
  const std::errc error = read_number(text, value);
  if (error == std::errc::invalid_argument) throw CsvFault{field, "expected a number, got " + shown(text)};
  if (error != std::errc()) throw CsvFault{field, "must be in the range of double, got " + shown(text)};
  if (!std::isfinite(value) && !(maskable && value == -kInfinity))
    throw CsvFault{field, (maskable ? "must be finite or -inf, got " : "must be finite, got ") + shown(text)};
  return value;
}

/// Reads the field [p, stop), of which `end` is behind, if it holds a decimal, also in quotes or with blanks
/// around it.
__attribute__((noinline)) bool read_framed(const char* p, const char* stop, const char* end, double& value) {
  while (p != stop && is_blank(*p)) ++p;
  while (p != stop && is_blank(stop[-1])) --stop;
  if (stop - p > 2 && *p == '"' && stop[-1] == '"') ++p, --stop;
  if (end - p >= kWordChars && read_short_decimal(p, stop, value)) return true;
  return read_decimal(p, stop, end, value);
}

/// Whether [p, stop) is a whole field where stop is the first separator: quotes, if there are any, enclose
/// it.
bool is_field(const char* p, const char* stop) {
  if (p == stop || (*p != '"' && !is_blank(*p))) return true;
  if (*p != '"' || stop - p < 2 || stop[-1] != '"') return false;
  return std::find(p + 1, stop - 1, '"') == stop - 1;
}

/// Reads a line in which fields end where `ends` says, and those to be read are finite decimals. Returns the
/// next line, or nullptr where it is none.
FENCHEL_INLINE const char* read_plain(const char* p, const char* end, std::span<const index_t> places,
                                      char separator, FieldEnds& ends, double* row) {
  const auto read_field = [&](const char* stop, index_t place) FENCHEL_INLINE_LAMBDA {
    if (place == CsvRow::kSkipped) return is_field(p, stop);
    if (end - p >= kWordChars && read_short_decimal(p, stop, row[place])) return true;
    return read_framed(p, stop, end, row[place]);
  };
  const index_t* place = places.data();
  for (const index_t* const last = place + places.size() - 1; place != last; ++place) {
    const char* const stop = ends.next();
    if (stop == end || *stop != separator || !read_field(stop, *place)) return nullptr;
    p = stop + 1;
  }
  const char* const stop = ends.next();
  if (stop == end || *stop != '\n' || !read_field(stop - (stop != p && stop[-1] == '\r'), *place))
    return nullptr;
  return stop + 1;
}

}  // namespace

std::string shown(std::string_view text) {
  constexpr std::string_view kHex = "0123456789abcdef";
  std::string result = "'";
  for (const char c : text.substr(0, kShown)) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte >= ' ' && byte < 127)
      result += c;
    else
      result.append("\\x") += {kHex[byte / 16], kHex[byte % 16]};
  }
  return result.append(text.size() > kShown ? "...'" : "'");
}

std::vector<std::string> csv_fields(std::string_view line, char separator) {
  std::vector<std::string> fields;
  for_each_field(line, separator, [&](const std::string& text) {
    if (std::ssize(fields) == kMaxColumns)
      throw CsvFault{kMaxColumns + 1, "a line must have at most " + shortest(kMaxColumns) + " fields"};
    fields.push_back(text);
  });
  return fields;
}

std::string_view line_at(const char* p, const char* end) {
  std::string_view line(p, static_cast<std::size_t>(end - p));
  line = line.substr(0, line.find('\n'));
  if (line.ends_with('\r')) line.remove_suffix(1);
  if (std::ssize(line) > kMaxLine)
    throw CsvFault{1, "a line must have at most " + shortest(kMaxLine) + " bytes"};
  return line;
}

index_t CsvRow::read(CsvPlace& at, const char* end, double* rows, index_t most) const {
  FieldEnds ends(at.next, end, separator);
  const char* p = at.next;
  double* row = rows;
  const double* const rows_end = rows + most * width;
  const std::span<const index_t> fields = places;
  const char comma = separator;
  while (row != rows_end && p != end) {
    at.line = p;
    const char* next = read_plain(p, end, fields, comma, ends, row);
    if (next != nullptr && next - p <= kMaxLine) {
      row += width;
    } else {
      const std::string_view line = line_at(p, end);
      if (read_fields(line, row)) row += width;
      next = std::find(line.data() + line.size(), end, '\n');
      next += next != end;
      ends.restart(next);
    }
    p = next;
  }
  at.next = p;
  return (row - rows) / width;
}

bool CsvRow::read_fields(std::string_view line, double* row) const {
  if (line.empty()) throw CsvFault{1, kBlankLine};
  const auto count = static_cast<index_t>(places.size());
  const char *p = line.data(), *const end = p + line.size();
  bool complete = true;
  std::string text;
  for (index_t field = 1;; ++field, ++p) {
    const index_t place = places[static_cast<std::size_t>(field - 1)];
    double value = 0;
    const char* const stop = std::find(p, end, separator);
    if (place != kSkipped && read_framed(p, stop, end, value)) {
      p = stop;
    } else {
      p = read_text(p, end, separator, field, text);
      const bool mask = place < maskable;
      if (place != kSkipped && mask && text.empty() && !skip_missing) {
        value = -kInfinity;
      } else if (place != kSkipped && is_missing(text)) {
        if (!skip_missing) throw CsvFault{field, "a value is missing"};
        complete = false;
      } else if (place != kSkipped) {
        value = number_of(text, field, mask);
      }
    }
    if (place != kSkipped) row[place] = value;
    if (p == end && field == count) return complete;
    if (p == end || field == count) {
      index_t got = 0;
      for_each_field(line, separator, [&](const std::string&) { ++got; });
      throw CsvFault{std::min(count, got) + 1,
                     "expected " + shortest(count) + " fields, got " + shortest(got)};
    }
  }
}

}  // namespace fenchel::detail
