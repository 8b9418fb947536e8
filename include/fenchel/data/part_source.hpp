#pragma once

/// `PartSource`: the part of a source that one of several processes reads.

#include "fenchel/data/batch_source.hpp"

namespace fenchel {

/// The share of one of several processes in a source that all of them can read: consecutive batches, and all
/// batches over all parts. The source must outlive it.
class FENCHEL_EXPORT PartSource final : public BatchSource {
 public:
  /// Throws std::domain_error unless 0 <= part < parts.
  PartSource(const BatchSource& whole, index_t part, index_t parts);

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return whole_.names(); }
  [[nodiscard]] index_t batches() const noexcept override { return end_ - begin_; }
  void read(index_t i, Batch& batch) const override { whole_.read(begin_ + i, batch); }
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override {
    return whole_.place(begin_ + batch, row, column);
  }

 private:
  const BatchSource& whole_;
  index_t begin_, end_;
};

}  // namespace fenchel
