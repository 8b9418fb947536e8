#pragma once

/// `ConcatenatedSource`: one table in several sources, such as files.

#include <memory>
#include <vector>

#include "fenchel/data/batch_source.hpp"

namespace fenchel {

/// Several sources with the same columns, one after the other: a table in many files.
class FENCHEL_EXPORT ConcatenatedSource final : public BatchSource {
 public:
  /// Throws std::invalid_argument unless there is a source and all have the names of the first.
  explicit ConcatenatedSource(std::vector<std::shared_ptr<const BatchSource>> sources);

  [[nodiscard]] std::span<const std::string> names() const noexcept override { return sources_[0]->names(); }
  [[nodiscard]] index_t batches() const noexcept override { return ends_.back(); }
  void read(index_t i, Batch& batch) const override;
  [[nodiscard]] std::string place(index_t batch, index_t row, index_t column) const override;

 private:
  struct Part {
    const BatchSource& source;
    index_t batch;
  };
  [[nodiscard]] Part part_of(index_t batch) const;

  std::vector<std::shared_ptr<const BatchSource>> sources_;
  std::vector<index_t> ends_;  // batches of the sources up to each
};

}  // namespace fenchel
