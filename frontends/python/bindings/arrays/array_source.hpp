#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "bindings/arrays/arrays.hpp"
#include "bindings/gil.hpp"
#include "fenchel/core/error.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/rows.hpp"
#include "fenchel/data/batch_source.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel::python {

/// The rows of an array, and their weights, read without a copy. They may begin at a later row
/// of a table that is read part by part: messages count from the table's first one.
class ArraySource final : public BatchSource {
 public:
  ArraySource(const InputRows& rows, const std::optional<Input<>>& weights, std::vector<std::string> names,
              index_t first)
      : rows_(rows_of(rows)),
        rows_per_batch_(std::clamp(kBatchEntries / std::max<index_t>(rows_.cols, 1), kFewestRows, kMostRows)),
        names_(std::move(names)),
        first_(first) {
    if (weights) weights_ = {weights->data(), weights->size()};
    if (static_cast<index_t>(names_.size()) != rows_.cols || (weights && weights->size() != rows.shape(0)))
      throw_invalid_argument("array_source", "names and weights", "must fit the rows", rows_.rows);
  }

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override {
    return (rows_.rows + rows_per_batch_ - 1) / rows_per_batch_;
  }
  void read(index_t i, Batch& batch) const override {
    const index_t begin = i * rows_per_batch_, count = std::min(rows_per_batch_, rows_.rows - begin);
    batch.rows = {rows_.row(begin), count, rows_.cols};
    batch.weights = weights_.empty()
                        ? weights_
                        : weights_.subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(count));
  }
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override {
    const std::string at = "row " + shortest(first_ + batch * rows_per_batch_ + row);
    return column == kWeightColumn ? at : at + ", column " + names_[static_cast<std::size_t>(column)];
  }

 private:
  // Enough work for a thread to be worth its start, in batches enough for several threads.
  static constexpr index_t kBatchEntries = 1 << 15, kFewestRows = 256, kMostRows = 4096;

  Rows<const double> rows_;
  index_t rows_per_batch_;
  std::span<const double> weights_;
  std::vector<std::string> names_;
  index_t first_;
};

/// f of the data in arrays, computed without the GIL.
template <class F>
[[nodiscard]] auto with_data(const InputRows& rows, const std::optional<Input<>>& weights,
                             std::vector<std::string> names, index_t first, const F& f) {
  const ArraySource source(rows, weights, std::move(names), first);
  return without_gil([&] { return f(Data{source}); });
}

}  // namespace fenchel::python
