#pragma once

/// `NpySource`: a table in a .npy file of NumPy, in constant memory.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "fenchel/data/batch_source.hpp"

namespace fenchel {
namespace detail {
class ByteSource;
struct NpyTable;
}  // namespace detail

struct NpyOptions {
  std::vector<index_t> columns = {};       ///< from 0, in this order; empty: all but the weight
  std::optional<index_t> weight = {};      ///< the column of weights
  bool masks = false;                      ///< -infinity may stand among the values
  index_t batch_bytes = index_t{1} << 20;  ///< of the file, in a batch; at least a row
  std::string name = {};                   ///< what messages call the file; empty: its path
};

/// A table in a .npy file of NumPy, which is read a batch at a time: memory does not grow with the file. It
/// may be compressed as that of CsvSource.
///
/// Versions 1 to 3; arrays of one dimension (one column) or two, with at most 2^20 columns, in C or Fortran
/// order; doubles, floats, integers of 1 to 8 bytes and booleans, of either byte order. Doubles of this
/// machine in C order are used as they are read unless columns are chosen. Values must be finite, integers of
/// 8 bytes at most 2^53 in size. Columns are named by their indices; a message names "FILE: row 16, column
/// 2", both from 0 as in NumPy.
class FENCHEL_EXPORT NpySource final : public BatchSource {
 public:
  /// Opens the file and reads its header. Throws DataError where the file cannot be read or holds something
  /// else, std::invalid_argument for columns that it does not have.
  explicit NpySource(std::string path, const NpyOptions& options = {});
  /// The bytes of a file in memory, which outlive the source; messages call it `name`.
  [[nodiscard]] static NpySource in_memory(std::span<const char> bytes, std::string name,
                                           const NpyOptions& options = {});
  ~NpySource() override;
  /// Whether a file, which messages call `name`, begins as .npy does, or does so when it is decompressed.
  /// Throws DataError where it cannot be read.
  [[nodiscard]] static bool recognizes(const std::string& path, std::string name);
  [[nodiscard]] static bool recognizes(std::span<const char> bytes, std::string name);

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override;
  /// Throws DataError for a value that cannot be used, and where the file has changed since it was opened.
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  NpySource(std::unique_ptr<const detail::ByteSource> file, const NpyOptions& options);

  std::unique_ptr<const detail::NpyTable> table_;
  std::vector<std::string> names_;
};

}  // namespace fenchel
