#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// What is wrong with a line of a CSV file, and in which of its fields, counted from 1.
struct CsvFault {
  index_t field;
  std::string complaint;
};

/// How a message shows a field: 'abc', on one line, in ASCII and not too long.
[[nodiscard]] std::string shown(std::string_view text);

/// The fields of a line as text, without quotes. Throws CsvFault, also for more than kMaxColumns.
[[nodiscard]] std::vector<std::string> csv_fields(std::string_view line, char separator);

/// How each line of a file is read: for each field the place of its number in a row, or kSkipped.
struct CsvRow {
  static constexpr index_t kSkipped = -1;

  char separator;
  bool skip_missing;
  index_t maskable;  ///< so many places of a row may be -infinity
  std::vector<index_t> places;

  /// Reads a line, without its line break, into a row. False where a value is missing and may be. Throws
  /// CsvFault.
  [[nodiscard]] bool read(std::string_view line, double* row) const;
};

}  // namespace fenchel::detail
