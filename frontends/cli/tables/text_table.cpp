#include "cli/tables/text_table.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

#include "cli/tables/format.hpp"

namespace fenchel::cli {

std::string table_number(double value, bool terminal) {
  return terminal ? fmt::format("{:.4g}", value) : shortest_text(value);
}

std::string text_table(const std::vector<std::vector<std::string>>& rows, bool terminal) {
  std::vector<std::size_t> widths(rows[0].size(), 0);
  for (const auto& row : rows)
    for (std::size_t k = 0; k < row.size(); ++k) widths[k] = std::max(widths[k], row[k].size());
  std::string text;
  for (const auto& row : rows) {
    text += terminal ? fmt::format("{:<{}}", row[0], widths[0]) : csv_field(row[0]);
    for (std::size_t k = 1; k < row.size(); ++k)
      text += terminal ? fmt::format("  {:>{}}", row[k], widths[k]) : ',' + csv_field(row[k]);
    text += '\n';
  }
  return text;
}

}  // namespace fenchel::cli
