#include "fenchel/data/rows_source.hpp"

#include <algorithm>
#include <utility>

#include "fenchel/core/error.hpp"

namespace fenchel {

RowsSource::RowsSource(Rows<const double> rows, std::span<const double> weights,
                       std::vector<std::string> names)
    : rows_(rows), weights_(weights), names_(std::move(names)) {
  if (!weights.empty() && static_cast<index_t>(weights.size()) != rows.rows)
    throw_invalid_argument("rows_source", "weights", "must have one entry for each row",
                           static_cast<index_t>(weights.size()));
  if (names_.empty()) {
    for (index_t j = 0; j < rows.cols; ++j) names_.push_back(shortest(j));
  }
  if (static_cast<index_t>(names_.size()) != rows.cols)
    throw_invalid_argument("rows_source", "names", "must have one entry for each column",
                           static_cast<index_t>(names_.size()));
}

index_t RowsSource::batches() const noexcept { return (rows_.rows + kRowsPerBatch - 1) / kRowsPerBatch; }

void RowsSource::read(index_t i, Batch& batch) const {
  const index_t begin = i * kRowsPerBatch, count = std::min(kRowsPerBatch, rows_.rows - begin);
  batch.rows = {rows_.row(begin), count, rows_.cols, rows_.stride};
  batch.weights = weights_.empty()
                      ? weights_
                      : weights_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
}

std::string RowsSource::place(index_t batch, index_t row, index_t column) const {
  const std::string at = "row " + shortest(batch * kRowsPerBatch + row);
  return column == kWeightColumn ? at : at + ", column " + names_[static_cast<std::size_t>(column)];
}

}  // namespace fenchel
