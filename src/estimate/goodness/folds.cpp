#include "estimate/goodness/folds.hpp"

#include <utility>

namespace fenchel::detail {
namespace {

/// Weights of a batch's rows, and what the rows lie in.
struct Owner {
  std::vector<double> weights;
  std::shared_ptr<const void> rows;
};

}  // namespace

void FoldSource::read(index_t i, Batch& batch) const {
  Batch plain;
  whole_.read(i, plain);
  const index_t rows = plain.rows.rows;
  batch.storage.resize(static_cast<std::size_t>(2 * rows));
  folds_.for_each(i, rows, [&](index_t row, index_t fold) {
    batch.storage[static_cast<std::size_t>(2 * row)] = plain.rows.row(row)[0];
    batch.storage[static_cast<std::size_t>(2 * row + 1)] = static_cast<double>(fold);
  });
  auto owner = std::make_shared<Owner>();
  owner->weights.assign(plain.weights.begin(), plain.weights.end());
  batch.rows = {batch.storage.data(), rows, 2};
  batch.weights = owner->weights;
  batch.owner = std::move(owner);
}

void TrainingSource::read(index_t i, Batch& batch) const {
  batch.owner.reset();
  batch.weights = {};  // they were the owner's
  whole_.read(i, batch);
  auto owner = std::make_shared<Owner>();
  owner->weights.resize(static_cast<std::size_t>(batch.rows.rows));
  const PerRow weights = batch.row_weights();
  folds_.for_each(i, batch.rows.rows, [&](index_t row, index_t fold) {
    owner->weights[static_cast<std::size_t>(row)] = fold == left_out_ ? 0 : weights[row];
  });
  owner->rows = std::move(batch.owner);
  batch.weights = owner->weights;
  batch.owner = std::move(owner);
}

}  // namespace fenchel::detail
