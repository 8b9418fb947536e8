#include "cli/tables/row_writer.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "cli/tables/record.hpp"

namespace fenchel::cli {
namespace {

/// Rows that a table looks at before it fixes the widths of its columns.
constexpr std::size_t kLookAhead = 200;
/// Room for any shape, so that the true header fits over the one written first.
constexpr std::size_t kNpyHeader = 128;

std::string npy_header(index_t rows, std::size_t columns) {
  std::string header("\x93NUMPY\x01\x00", 8);
  header += static_cast<char>(kNpyHeader - 10);
  header += '\0';
  header += fmt::format("{{'descr': '<f8', 'fortran_order': False, 'shape': ({}, {}), }}", rows, columns);
  header.resize(kNpyHeader - 1, ' ');
  return header + '\n';
}

std::string bytes_of(std::span<const double> row) {
  return {reinterpret_cast<const char*>(row.data()), row.size_bytes()};
}

}  // namespace

RowWriter::RowWriter(const Session& session, std::vector<std::string> columns)
    : output_(*session.result), form_(form_of(session, output_.is_terminal())), columns_(std::move(columns)) {
  if (form_ == Form::npy) output_.write(npy_header(0, columns_.size()));
  if (form_ == Form::json) output_.write("{\"columns\": " + json_text(Record(columns_)) + ", \"rows\": [");
  if (form_ == Form::csv) {
    for (std::size_t k = 0; k < columns_.size(); ++k)
      output_.write((k > 0 ? "," : "") + csv_field(columns_[k]));
    output_.write("\n");
  }
}

void RowWriter::write(std::span<const double> row) {
  ++rows_;
  if (form_ == Form::npy) return output_.write(bytes_of(row));
  if (form_ == Form::table) {
    std::vector<std::string> cells;
    for (const double value : row) cells.push_back(short_text(value));
    if (!widths_.empty()) return write_table_row(cells);
    waiting_.push_back(std::move(cells));
    if (waiting_.size() == kLookAhead) settle_widths();
    return;
  }
  std::string line = form_ == Form::json ? (rows_ > 1 ? ",\n[" : "\n[") : "";
  for (std::size_t k = 0; k < row.size(); ++k) {
    if (k > 0) line += form_ == Form::json ? ", " : ",";
    line += form_ == Form::json ? number(row[k]).dump() : shortest_text(row[k]);
  }
  output_.write(line += form_ == Form::json ? "]" : "\n");
}

void RowWriter::settle_widths() {
  for (std::size_t k = 0; k < columns_.size(); ++k) {
    widths_.push_back(columns_[k].size());
    for (const auto& cells : waiting_) widths_[k] = std::max(widths_[k], cells[k].size());
  }
  write_table_row(columns_);
  for (const auto& cells : std::exchange(waiting_, {})) write_table_row(cells);
}

void RowWriter::write_table_row(std::span<const std::string> cells) {
  std::string line;
  for (std::size_t k = 0; k < cells.size(); ++k) {
    line += fmt::format("{}{:>{}}", k > 0 ? "  " : "", cells[k], widths_[k]);
  }
  output_.write(line + '\n');
}

void RowWriter::finish() {
  if (form_ == Form::table && widths_.empty()) settle_widths();
  if (form_ == Form::json) output_.write("\n]}\n");
  if (form_ == Form::npy) output_.rewrite_beginning(npy_header(rows_, columns_.size()));
  output_.finish();
}

}  // namespace fenchel::cli
