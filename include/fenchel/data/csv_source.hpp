#pragma once

/// `CsvSource`: a strict reader of CSV files in constant memory.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/data/batch_source.hpp"

namespace fenchel {
namespace detail {
class FileBytes;
struct CsvPlace;
struct CsvRow;
}  // namespace detail

/// Numbers are those of std::from_chars (no leading +), correctly rounded and finite; those too small for a
/// double are 0 of their sign, as with std::strtod. In columns that are not selected anything may stand.
/// Missing is an empty field, NA, NaN or null in any case.
struct CsvOptions {
  std::vector<std::string> columns = {};  ///< by name, in this order; empty: all but the weight
  std::string weight = {};                ///< name of the column of weights; empty: none
  char separator = ',';                   ///< a tab or a mark of punctuation, none of " + - .
  bool header = true;                     ///< without one the columns are "0", "1", ...
  bool skip_missing = false;              ///< leave out rows with a missing selected value, not an error
  bool masks = false;  ///< of the columns but the weight: -inf may stand there, and an empty field is that
                       ///< unless rows are left out
  index_t batch_bytes = index_t{1} << 20;  ///< of the file, in a batch
};

/// A table in a CSV file, which is read a batch at a time: memory does not grow with the file. It has at most
/// 2^20 columns, as .npy has, and a line at most 2^26 bytes.
///
/// A row is a line, ended by LF or CRLF or the end of the file; blank lines may stand at the very end alone.
/// Each line has as many fields as the first. A field may stand in quotes, with "" for a quote, and may have
/// blanks around it, but no line break in it. Names hold no control characters but tabs. A UTF-8 byte order
/// mark is skipped. A message names FILE:LINE:FIELD, both from 1.
class FENCHEL_EXPORT CsvSource final : public BatchSource {
 public:
  /// Opens the file and reads its first line. Throws DataError where the file cannot be read or does not
  /// have the columns, std::invalid_argument for options that mean nothing.
  explicit CsvSource(std::string path, CsvOptions options = {});
  /// Text in memory that outlives the source; messages call it `name`.
  [[nodiscard]] static CsvSource in_memory(std::span<const char> text, std::string name,
                                           CsvOptions options = {});
  ~CsvSource() override;

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override;
  /// Throws DataError for a line that is no row, and where the file has changed since it was opened.
  void read(index_t i, Batch& batch) const override;
  /// Reads the file up to the row, to count its lines.
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  struct Lines;

  CsvSource(std::unique_ptr<const detail::FileBytes> file, CsvOptions options);
  void select(const std::vector<std::string>& header);
  [[nodiscard]] index_t line_end(index_t from, index_t limit) const;
  [[nodiscard]] Lines lines_of(index_t batch) const;
  index_t read_rows(const Lines& lines, detail::CsvPlace& place, double* rows, index_t most) const;
  [[nodiscard]] std::string place_at(index_t offset, index_t field) const;

  std::unique_ptr<const detail::FileBytes> file_;
  CsvOptions options_;
  std::vector<std::string> names_;
  std::unique_ptr<detail::CsvRow> row_;
  index_t width_ = 0;            // of a row: the names, and the weight
  index_t begin_ = 0, end_ = 0;  // of the rows, in the file
};

}  // namespace fenchel
