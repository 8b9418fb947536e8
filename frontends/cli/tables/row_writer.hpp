#pragma once

#include <span>
#include <string>
#include <vector>

#include "cli/program/session.hpp"
#include "cli/tables/format.hpp"
#include "cli/tables/output.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel::cli {

/// A table of numbers that leaves row by row, to session.result: CSV, an aligned table on a terminal, JSON
/// ({"columns": [...], "rows": [[...], ...]}) or, for an output FILE.npy, a two-dimensional array of doubles.
class RowWriter {
 public:
  RowWriter(const Session& session, std::vector<std::string> columns);

  void write(std::span<const double> row);
  /// Without it nothing is left in a file.
  void finish();

  /// Someone sees the rows as they come, and needs no other progress.
  [[nodiscard]] bool is_terminal() const noexcept { return output_.is_terminal(); }

 private:
  void write_table_row(std::span<const std::string> cells);
  void settle_widths();

  Output& output_;
  Form form_;
  std::vector<std::string> columns_;
  std::vector<std::vector<std::string>> waiting_;  // rows of a table whose widths are not known yet
  std::vector<std::size_t> widths_;
  index_t rows_ = 0;
};

}  // namespace fenchel::cli
