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

constexpr char kRuns = ' ';         // the separator of which runs count as one
constexpr std::size_t kShown = 40;  // characters of a bad field in a message

bool is_blank(char c) { return c == ' ' || c == '\t'; }

/// What is left of a line between the separators at its ends, where they may stand there.
std::string_view trimmed(std::string_view line, char separator) {
  if (separator != kRuns) return line;
  while (line.starts_with(kRuns)) line.remove_prefix(1);
  while (line.ends_with(kRuns)) line.remove_suffix(1);
  return line;
}

/// Where the field behind the separator at p begins.
const char* next_field(const char* p, char separator) {
  ++p;
  while (separator == kRuns && *p == kRuns) ++p;
  return p;
}

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
  line = trimmed(line, separator);
  const char *p = line.data(), *const end = p + line.size();
  std::string text;
  for (index_t field = 1;; ++field, p = next_field(p, separator)) {
    p = read_text(p, end, separator, field, text);
    take(text);
    if (p == end) return;
  }
}

template <char Decimal>
double number_of(const std::string& text, index_t field, bool maskable) {
  double value = 0;
  std::string with_point = text;
  std::replace(with_point.begin(), with_point.end(), Decimal, '.');
  const bool foreign = Decimal != '.' && text.find('.') != std::string::npos;
  const std::errc error = foreign ? std::errc::invalid_argument : read_number(with_point, value);
  if (error == std::errc::invalid_argument) throw CsvFault{field, "expected a number, got " + shown(text)};
  if (error != std::errc()) throw CsvFault{field, "must be in the range of double, got " + shown(text)};
  if (!std::isfinite(value) && !(maskable && value == -kInfinity))
    throw CsvFault{field, (maskable ? "must be finite or -inf, got " : "must be finite, got ") + shown(text)};
  return value;
}

/// Reads the field [p, stop), of which `end` is behind, if it holds a decimal, also in quotes or with blanks
/// around it.
template <char Decimal>
__attribute__((noinline)) bool read_framed(const char* p, const char* stop, const char* end, double& value) {
  while (p != stop && is_blank(*p)) ++p;
  while (p != stop && is_blank(stop[-1])) --stop;
  if (stop - p > 2 && *p == '"' && stop[-1] == '"') ++p, --stop;
  if (end - p >= kWordChars && read_short_decimal<Decimal>(p, stop, value)) return true;
  return read_decimal<Decimal>(p, stop, end, value);
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
template <char Decimal, bool Runs>
FENCHEL_INLINE const char* read_plain(const char* p, const char* end, std::span<const index_t> places,
                                      const CsvMarks& marks, FieldEnds& ends, double* row) {
  const char separator = Runs ? kRuns : marks.separator;
  if (*p == marks.comment) return nullptr;
  const auto end_of_field = [&]() FENCHEL_INLINE_LAMBDA {
    const char* stop = ends.next();
    if constexpr (Runs) {
      for (; stop == p && stop != end && *stop == kRuns; stop = ends.next()) ++p;
    }
    return stop;
  };
  const auto read_field = [&](const char* stop, index_t place) FENCHEL_INLINE_LAMBDA {
    if (place == CsvRow::kSkipped) return is_field(p, stop);
    if (end - p >= kWordChars && read_short_decimal<Decimal>(p, stop, row[place])) return true;
    return read_framed<Decimal>(p, stop, end, row[place]);
  };
  const index_t* place = places.data();
  for (const index_t* const last = place + places.size() - 1; place != last; ++place) {
    const char* const stop = end_of_field();
    if (stop == end || *stop != separator || !read_field(stop, *place)) return nullptr;
    p = stop + 1;
  }
  const char* const stop = end_of_field();
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

bool is_no_row(std::string_view line, const CsvMarks& marks) {
  const auto content = std::find_if(line.begin(), line.end(), [&](char c) {
    return !is_blank(c) || (c == marks.separator && c != kRuns);
  });
  return content == line.end() || *content == marks.comment;
}

bool is_missing(std::string_view text) {
  constexpr std::array<std::string_view, 4> kWords = {"", "na", "nan", "null"};
  const auto same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a - 'A' + 'a' : a) == b; };
  return std::any_of(kWords.begin(), kWords.end(), [&](std::string_view word) {
    return std::equal(text.begin(), text.end(), word.begin(), word.end(), same);
  });
}

bool is_text(std::string_view text) {
  constexpr std::string_view kDigits = "0123456789";
  double value = 0;
  if (read_number(text, value) != std::errc::invalid_argument) return false;
  const bool other = text.find_first_not_of("0123456789.,+-") == std::string_view::npos &&
                     text.find_last_of("+-") + 1 <= 1 && text.find_first_of(",+") != std::string_view::npos;
  return !other || text.find_first_of(kDigits) == std::string_view::npos;
}

std::vector<std::string> csv_fields(std::string_view line, const CsvMarks& marks) {
  std::vector<std::string> fields;
  for_each_field(line, marks.separator, [&](const std::string& text) {
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
  if (marks.separator == kRuns)
    return marks.decimal == '.' ? read_lines<'.', true>(at, end, rows, most)
                                : read_lines<',', true>(at, end, rows, most);
  return marks.decimal == '.' ? read_lines<'.', false>(at, end, rows, most)
                              : read_lines<',', false>(at, end, rows, most);
}

template <char Decimal, bool Runs>
index_t CsvRow::read_lines(CsvPlace& at, const char* end, double* rows, index_t most) const {
  const CsvMarks its_marks = marks;
  FieldEnds ends(at.next, end, its_marks.separator);
  const char* p = at.next;
  double* row = rows;
  const double* const rows_end = rows + most * width;
  const std::span<const index_t> fields = places;
  while (row != rows_end && p != end) {
    at.line = p;
    const char* next = read_plain<Decimal, Runs>(p, end, fields, its_marks, ends, row);
    if (next != nullptr && next - p <= kMaxLine) {
      row += width;
    } else {
      const std::string_view line = line_at(p, end);
      if (!is_no_row(line, its_marks) && read_fields<Decimal>(line, row)) row += width;
      next = std::find(line.data() + line.size(), end, '\n');
      next += next != end;
      ends.restart(next);
    }
    p = next;
  }
  at.next = p;
  return (row - rows) / width;
}

template <char Decimal>
bool CsvRow::read_fields(std::string_view line, double* row) const {
  const char separator = marks.separator;
  line = trimmed(line, separator);
  const auto count = static_cast<index_t>(places.size());
  const char *p = line.data(), *const end = p + line.size();
  bool complete = true;
  std::string text;
  for (index_t field = 1;; ++field, p = next_field(p, separator)) {
    const index_t place = places[static_cast<std::size_t>(field - 1)];
    double value = 0;
    const char* const stop = std::find(p, end, separator);
    if (place != kSkipped && read_framed<Decimal>(p, stop, end, value)) {
      p = stop;
    } else {
      p = read_text(p, end, separator, field, text);
      const bool mask = place < maskable;
      if (place != kSkipped && mask && text.empty() && !skip_missing) {
        value = -kInfinity;
      } else if (place != kSkipped && is_missing(text)) {
        if (!skip_missing) throw CsvFault{field, std::string(kMissing)};
        complete = false;
      } else if (place != kSkipped) {
        value = number_of<Decimal>(text, field, mask);
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
