#pragma once

/// `BatchSource`: the interface of a table that is read in batches, for sources of your own.

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"

namespace fenchel {

/// Rows that were read together, with a weight for each or none. They may lie in `storage` or belong to the
/// source, and last until the next read into this batch.
struct Batch {
  Rows<const double> rows;
  std::span<const double> weights;      ///< empty: every row weighs 1
  std::vector<double> storage;          ///< for the rows, kept between reads
  std::shared_ptr<const void> owner{};  ///< of rows that lie elsewhere, where the batch must hold them

  /// For functions of rows and weights.
  [[nodiscard]] PerRow row_weights() const noexcept {
    return weights.empty() ? PerRow(1.0) : PerRow(weights);
  }
};

/// A table of numbers that is read in batches, in any order and by several threads at once. Where batches
/// begin depends on the table alone, so a sum over batches in their order does not depend on who read them.
/// A weight of w means that the row stands for w equal ones.
class FENCHEL_EXPORT BatchSource {
 public:
  BatchSource() = default;
  virtual ~BatchSource() = default;
  BatchSource(const BatchSource&) = delete;
  BatchSource& operator=(const BatchSource&) = delete;

  /// One for each column; the column of weights is not among them.
  [[nodiscard]] virtual std::span<const std::string> names() const noexcept = 0;
  [[nodiscard]] virtual index_t batches() const noexcept = 0;
  /// Reads batch i, which may have no rows: its rows and its weights, or that there are none. Throws
  /// DataError where it cannot be read.
  virtual void read(index_t i, Batch& batch) const = 0;
  /// What a message calls an entry: "data.csv:17:3", or "row 16, column 2"; column kWeightColumn is the
  /// weight.
  [[nodiscard]] virtual std::string place(index_t batch, index_t row, index_t column) const = 0;

  [[nodiscard]] index_t columns() const noexcept { return static_cast<index_t>(names().size()); }
};

inline constexpr index_t kWeightColumn = -1;

}  // namespace fenchel
