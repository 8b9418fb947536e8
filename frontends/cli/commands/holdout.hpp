#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
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

/// Whether a row of a source is kept.
using Keeps = std::function<bool(index_t batch, index_t row)>;
/// Those that are not held out in this process.
[[nodiscard]] Keeps all_but(const Holdout& holdout, int rank);

/// Those that are not kept.
[[nodiscard]] Keeps others(const Keeps& keeps);

/// The rows of a source that are kept.
class FilteredSource final : public BatchSource {
 public:
  /// The source must outlive it.
  FilteredSource(const BatchSource& whole, Keeps keeps) : whole_(whole), keeps_(std::move(keeps)) {}

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return whole_.names(); }
  [[nodiscard]] index_t batches() const noexcept override { return whole_.batches(); }
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  const BatchSource& whole_;
  Keeps keeps_;
};

/// Parts of a table that are drawn: row i, from 0, is in the part j with ends[j - 1] <= u < ends[j], where u
/// is draw i of `fenchel sample uniform` with this seed. Neither threads nor processes change it.
class RandomParts {
 public:
  /// One pass, to count rows. The last end must be 1. Throws Cancelled.
  RandomParts(const Data& data, std::uint64_t seed, std::vector<double> ends);

  [[nodiscard]] std::size_t part(index_t batch, index_t row) const;
  /// Of all processes, in a part.
  [[nodiscard]] index_t rows(std::size_t part) const { return rows_[part]; }
  [[nodiscard]] index_t total() const;

 private:
  [[nodiscard]] std::size_t part_of(index_t number) const;

  std::uint64_t seed_;
  std::vector<double> ends_;
  std::vector<index_t> first_;  // the number of the first row of each batch
  std::vector<index_t> rows_;
};

}  // namespace fenchel::cli
