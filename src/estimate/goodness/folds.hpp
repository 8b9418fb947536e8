#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "fenchel/core/index.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/data/batch_source.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

/// Rows of one column in folds: which one a row is in follows from its batch and its place there.
namespace fenchel::detail {

struct Folds {
  index_t count;
  std::uint64_t seed;

  /// Calls use(row, fold) for the rows of a batch, in their order.
  template <class Use>
  void for_each(index_t batch, index_t rows, const Use& use) const {
    Philox rng(seed, static_cast<std::uint64_t>(batch));
    for (index_t row = 0; row < rows; ++row)
      use(row, static_cast<index_t>((rng() >> 32) * static_cast<std::uint64_t>(count) >> 32));
  }
};

/// The rows, with their fold as a second column.
class FoldSource final : public BatchSource {
 public:
  FoldSource(const BatchSource& whole, const Folds& folds) : whole_(whole), folds_(folds) {}

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override { return whole_.batches(); }
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override {
    return whole_.place(batch, row, column);
  }

 private:
  const BatchSource& whole_;
  Folds folds_;
  std::vector<std::string> names_{"value", "fold"};
};

/// The rows, those of one fold without weight.
class TrainingSource final : public BatchSource {
 public:
  TrainingSource(const BatchSource& whole, const Folds& folds, index_t left_out)
      : whole_(whole), folds_(folds), left_out_(left_out) {}

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return whole_.names(); }
  [[nodiscard]] index_t batches() const noexcept override { return whole_.batches(); }
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override {
    return whole_.place(batch, row, column);
  }

 private:
  const BatchSource& whole_;
  Folds folds_;
  index_t left_out_;
};

/// Statistics of each fold, of the rows of a FoldSource.
template <Statistics S>
class FoldStatistics {
 public:
  explicit FoldStatistics(index_t count) : folds_(static_cast<std::size_t>(count)) {}

  void update(Rows<const double> rows, PerRow weights) {
    const Rows<const double> values{rows.data, rows.rows, 1, rows.stride};
    std::vector<double> of_fold(static_cast<std::size_t>(rows.rows));
    for (std::size_t f = 0; f < folds_.size(); ++f) {  // so that a message counts all rows
      for (index_t i = 0; i < rows.rows; ++i)
        of_fold[static_cast<std::size_t>(i)] = rows.row(i)[1] == static_cast<double>(f) ? weights[i] : 0;
      folds_[f].update(values, of_fold);
    }
  }
  void merge(const FoldStatistics& other) {
    for (std::size_t f = 0; f < folds_.size(); ++f) folds_[f].merge(other.folds_[f]);
  }
  /// The length of each fold's, and it.
  [[nodiscard]] Bytes to_bytes() const {
    Bytes all;
    for (const S& fold : folds_) {
      const Bytes bytes = fold.to_bytes();
      const std::uint64_t size = bytes.size();
      for (int k = 0; k < 8; ++k) all.push_back(static_cast<std::byte>(size >> (8 * k)));
      all.insert(all.end(), bytes.begin(), bytes.end());
    }
    return all;
  }
  void merge_bytes(std::span<const std::byte> bytes) {
    for (S& fold : folds_) {
      std::uint64_t size = 0;
      for (std::size_t k = 0; k < 8; ++k) size |= std::to_integer<std::uint64_t>(bytes[k]) << (8 * k);
      fold.merge_bytes(bytes.subspan(8, size));
      bytes = bytes.subspan(8 + size);
    }
  }

  /// Of all folds but one.
  [[nodiscard]] S without(index_t left_out) const {
    S rest;
    for (std::size_t f = 0; f < folds_.size(); ++f)
      if (static_cast<index_t>(f) != left_out) rest.merge(folds_[f]);
    return rest;
  }

 private:
  std::vector<S> folds_;
};

}  // namespace fenchel::detail
