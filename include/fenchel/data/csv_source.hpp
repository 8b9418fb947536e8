#pragma once

/// `CsvSource`: a strict reader of CSV files in constant memory.

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "fenchel/data/batch_source.hpp"

namespace fenchel {
namespace detail {
class ByteSource;
struct CsvPlace;
struct CsvRow;
}  // namespace detail

/// Numbers are those of std::from_chars (no leading +), correctly rounded and finite; those too small for a
/// double are 0 of their sign, as with std::strtod. In columns that are not selected anything may stand.
/// Missing is an empty field, NA, NaN or null in any case.
struct CsvOptions {
  std::vector<std::string> columns = {};  ///< by name, in this order; empty: all but the weight
  std::string weight = {};                ///< name of the column of weights; empty: none
  /// A tab, a mark of punctuation other than " + - ., or a blank for runs of blanks. None: what stands in the
  /// first line: a comma (unless that is the decimal), else a tab, else a semicolon.
  std::optional<char> separator = {};
  char decimal = '.';                ///< or a comma
  std::optional<char> comment = {};  ///< a mark such as #: lines that begin with it are left out
  bool header = true;                ///< without one the columns are "0", "1", ...
  bool skip_missing = false;         ///< leave out rows with a missing selected value, not an error
  bool skip_text = false;  ///< leave out columns, of all, that hold text and no number in the first 100 rows
  bool masks = false;  ///< of the columns but the weight: -inf may stand there, and an empty field is that
                       ///< unless rows are left out
  index_t batch_bytes = index_t{1} << 20;  ///< of the file, in a batch
  std::string name = {};                   ///< what messages call the file; empty: its path
};

/// A table in a CSV file, which is read a batch at a time: memory does not grow with the file. It has at most
/// 2^20 columns, as .npy has, and a line at most 2^26 bytes. A file that is compressed, by gzip or zstd, is
/// known by its first bytes: it is decompressed in order, once more for each pass over it.
///
/// A row is a line, ended by LF or CRLF or the end of the file; blank lines are left out. Each line has as
/// many fields as the first. A field may stand in quotes, with "" for a quote, and may have blanks around it,
/// but no line break in it. Names hold no control characters but tabs. A UTF-8 byte order mark is skipped. A
/// message names FILE:LINE:FIELD, both from 1.
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
  /// Throws DataError for a line that is no row, and where the file has changed since it was opened. Where a
  /// value is missing it says in how many rows, of the first 64 MiB at most.
  void read(index_t i, Batch& batch) const override;
  /// Reads the file up to the row, to count its lines.
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

  [[nodiscard]] char separator() const noexcept;
  /// The columns that skip_text left out.
  [[nodiscard]] std::span<const std::string> text_columns() const noexcept { return text_columns_; }
  /// The line of the file, from 1, that holds the names or, without them, is the first row.
  [[nodiscard]] index_t first_line() const;

 private:
  struct Line;
  struct Lines;
  struct Missing;

  CsvSource(std::unique_ptr<const detail::ByteSource> file, CsvOptions options);
  void choose_columns(const std::vector<std::string>& header);
  void select(const std::vector<std::string>& header);
  [[nodiscard]] index_t line_end(index_t from, index_t limit) const;
  [[nodiscard]] Line row_at(index_t from) const;
  [[nodiscard]] std::vector<bool> find_text(std::size_t fields) const;
  [[nodiscard]] Lines lines_of(index_t batch) const;
  index_t read_rows(const Lines& lines, detail::CsvPlace& place, double* rows, index_t most) const;
  [[nodiscard]] index_t line_number(index_t offset) const;
  [[nodiscard]] std::string place_at(index_t offset, index_t field) const;
  [[nodiscard]] const std::string& missing_rows() const;

  std::unique_ptr<const detail::ByteSource> file_;
  CsvOptions options_;
  std::vector<std::string> names_, text_columns_;
  std::unique_ptr<detail::CsvRow> row_;
  std::unique_ptr<Missing> missing_;
  index_t width_ = 0;                        // of a row: the names, and the weight
  index_t first_ = 0, begin_ = 0, end_ = 0;  // of the first line and of the rows, in the file
};

}  // namespace fenchel
