#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

class FieldEnds;

/// What stands between and in the fields of a file.
struct CsvMarks {
  char separator = ',';  ///< a blank: runs of blanks, which may also stand at both ends of a line
  char decimal = '.';    ///< or a comma
  char comment = '\n';   ///< of a line that is a comment, the first of its marks; a line feed: there are none
};

/// What is wrong with a line of a CSV file, and in which of its fields, counted from 1.
struct CsvFault {
  index_t field;
  std::string complaint;
};

/// The complaint about a value that must not be missing.
inline constexpr std::string_view kMissing = "a value is missing";

inline constexpr index_t kMaxLine = index_t{1} << 26;  // bytes, since a line is held in memory

/// How a message shows a field: 'abc', on one line, in ASCII and not too long.
[[nodiscard]] std::string shown(std::string_view text);

/// The line at p of a text that ends at `end`, without its line break. Throws CsvFault for more than
/// kMaxLine.
[[nodiscard]] std::string_view line_at(const char* p, const char* end);

/// Whether a line is no row: it is blank or a comment.
[[nodiscard]] bool is_no_row(std::string_view line, const CsvMarks& marks);

/// The fields of a line as text, without quotes. Throws CsvFault, also for more than kMaxColumns.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, const CsvMarks& marks);

/// Whether a field says that its value is missing.
[[nodiscard]] bool is_missing(std::string_view text);
/// Whether a field holds no number, not even one that is written in another way, as 1,5 is.
[[nodiscard]] bool is_text(std::string_view text);

/// Where the reading of a text is: the line that was read last, or is at fault, and the one behind it.
struct CsvPlace {
  const char *line, *next;
};

/// How each line of a file is read: for each field the place of its number in a row, or kSkipped.
struct CsvRow {
  static constexpr index_t kSkipped = -1;

  CsvMarks marks = {};
  bool skip_missing = false;
  index_t width = 0;     ///< of a row
  index_t maskable = 0;  ///< so many places of a row may be -infinity
  std::vector<index_t> places = {};

  /// Reads the lines of a text that ends at `end`, from at.next on, into `most` rows or as many as there
  /// are, and returns how many. Lines that are no rows are left out, and where a value is missing and may be.
  /// Throws CsvFault.
  [[nodiscard]] index_t read(CsvPlace& at, const char* end, double* rows, index_t most) const;

 private:
  template <char Decimal, bool Runs>
  [[nodiscard]] index_t read_lines(CsvPlace& at, const char* end, double* rows, index_t most) const;
  template <char Decimal>
  [[nodiscard]] bool read_fields(std::string_view line, double* row) const;
};

}  // namespace fenchel::detail
