#pragma once

/// `RowsSource`: rows in memory, read without a copy.

#include <string>
#include <vector>

#include "fenchel/data/batch_source.hpp"

namespace fenchel {

/// Rows in memory that the caller owns, read without a copy.
class FENCHEL_EXPORT RowsSource final : public BatchSource {
 public:
  static constexpr index_t kRowsPerBatch = 4096;

  /// Throws std::invalid_argument when there are weights and not one for each row, or names and not one for
  /// each column; without names columns are "0", "1", ...
  explicit RowsSource(Rows<const double> rows, std::span<const double> weights = {},
                      std::vector<std::string> names = {});

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return names_; }
  [[nodiscard]] index_t batches() const noexcept override;
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  Rows<const double> rows_;
  std::span<const double> weights_;
  std::vector<std::string> names_;
};

}  // namespace fenchel
