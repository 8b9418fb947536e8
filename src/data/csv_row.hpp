#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

class FieldEnds;

/// What is wrong with a line of a CSV file, and in which of its fields, counted from 1.
struct CsvFault {
  index_t field;
  std::string complaint;
};

inline constexpr index_t kMaxLine = index_t{1} << 26;  // bytes, since a line is held in memory

/// How a message shows a field: 'abc', on one line, in ASCII and not too long.
[[nodiscard]] std::string shown(std::string_view text);

/// The line at p of a text that ends at `end`, without its line break. Throws CsvFault for more than
/// kMaxLine.
[[nodiscard]] std::string_view line_at(const char* p, const char* end);

/// The fields of a line as text, without quotes. Throws CsvFault, also for more than kMaxColumns.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);

/// Where the reading of a text is: the line that was read last, or is at fault, and the one behind it.
struct CsvPlace {
  const char *line, *next;
};

/// How each line of a file is read: for each field the place of its number in a row, or kSkipped.
struct CsvRow {
  static constexpr index_t kSkipped = -1;

  char separator;
  bool skip_missing;
  index_t width;     ///< of a row
  index_t maskable;  ///< so many places of a row may be -infinity
  std::vector<index_t> places;

  /// Reads the lines of a text that ends at `end`, from at.next on, into `most` rows or as many as there
  /// are, and returns how many. Where a value is missing and may be, a line is left out. Throws CsvFault.
  [[nodiscard]] index_t read(CsvPlace& at, const char* end, double* rows, index_t most) const;

 private:
  [[nodiscard]] bool read_fields(std::string_view line, double* row) const;
};

}  // namespace fenchel::detail
