#pragma once

#include <string>
#include <vector>

namespace fenchel::cli {

/// Rows of texts, the first one of names: aligned for eyes, the first column to the left, or as CSV.
[[nodiscard]] std::string text_table(const std::vector<std::vector<std::string>>& rows, bool terminal);
/// A number in such a table: four digits for eyes, else the shortest text that reads back.
[[nodiscard]] std::string table_number(double value, bool terminal);

}  // namespace fenchel::cli
