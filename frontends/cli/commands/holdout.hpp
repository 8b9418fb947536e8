#pragma once

#include <utility>
#include <vector>

#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::cli {

/// A row that is kept for a test, and where it stands.
struct HeldRow {
  double key;                ///< the value that it was chosen by
  index_t rank, batch, row;  ///< the process in whose part it is, and its place there
  double weight;
  std::vector<double> values;
};

struct Holdout {
  std::vector<HeldRow> rows;  ///< ascending in their keys; where those are equal, in the order of the table
  index_t total = 0;          ///< how many rows the table has, in all processes
};

/// The `count` rows with the largest values in a column, the last ones of those that tie: one pass, in memory
/// for so many rows. Throws DataError where a value is not finite, and Cancelled.
[[nodiscard]] Holdout hold_out(const Data& data, index_t count, index_t column);

/// A source without the rows that are held out in this process.
class RemainingSource final : public BatchSource {
 public:
  /// The source must outlive it.
  RemainingSource(const BatchSource& whole, const Holdout& holdout, int rank);

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return whole_.names(); }
  [[nodiscard]] index_t batches() const noexcept override { return whole_.batches(); }
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  using Place = std::pair<index_t, index_t>;  // batch and row

  const BatchSource& whole_;
  std::vector<Place> held_;  // ascending
};

}  // namespace fenchel::cli
