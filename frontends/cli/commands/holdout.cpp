#include "cli/commands/holdout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <set>
#include <tuple>

#include "cli/tables/format.hpp"
#include "fenchel/data/data_error.hpp"

namespace fenchel::cli {
namespace {

struct InOrder {
  bool operator()(const HeldRow& a, const HeldRow& b) const {
    return std::tie(a.key, a.rank, a.batch, a.row) < std::tie(b.key, b.rank, b.batch, b.row);
  }
};

/// The largest rows seen so far, and how many were seen.
class Largest {
 public:
  explicit Largest(index_t most) : most_(static_cast<std::size_t>(most)) {}

  /// Whether a row with this key, which comes later than all others, is among them.
  [[nodiscard]] bool wants(double key) const {
    return rows_.size() < most_ || (most_ > 0 && key >= rows_.begin()->key);
  }
  void add(HeldRow row) {
    rows_.insert(std::move(row));
    if (rows_.size() > most_) rows_.erase(rows_.begin());
  }
  void count(index_t rows) { total_ += rows; }

  [[nodiscard]] Bytes to_bytes() const {
    std::vector<double> numbers{static_cast<double>(total_)};
    for (const HeldRow& row : rows_) {
      numbers.insert(numbers.end(), {row.key, static_cast<double>(row.rank), static_cast<double>(row.batch),
                                     static_cast<double>(row.row), row.weight});
      numbers.insert(numbers.end(), row.values.begin(), row.values.end());
    }
    const auto bytes = std::as_bytes(std::span(numbers));
    return {bytes.begin(), bytes.end()};
  }
  void merge_bytes(std::span<const std::byte> bytes, std::size_t columns) {
    std::vector<double> numbers(bytes.size() / sizeof(double));
    std::memcpy(numbers.data(), bytes.data(), bytes.size());
    count(static_cast<index_t>(numbers[0]));
    for (auto at = numbers.begin() + 1; at != numbers.end();) {
      const auto values = at + 5, end = values + static_cast<std::ptrdiff_t>(columns);
      add({at[0],
           static_cast<index_t>(at[1]),
           static_cast<index_t>(at[2]),
           static_cast<index_t>(at[3]),
           at[4],
           {values, end}});
      at = end;
    }
  }
  [[nodiscard]] Holdout result() const { return {{rows_.begin(), rows_.end()}, total_}; }

 private:
  std::size_t most_;
  std::set<HeldRow, InOrder> rows_;
  index_t total_ = 0;
};

Largest largest_here(const Data& data, index_t most, index_t column) {
  Largest largest(most);
  Batch batch;
  for (index_t i = 0; i < data.source.batches(); ++i) {
    data.source.read(i, batch);
    for (index_t k = 0; k < batch.rows.rows; ++k) {
      const std::span<const double> values = batch.rows[k];
      const double key = values[static_cast<std::size_t>(column)];
      if (!std::isfinite(key))
        throw DataError(data.source.place(i, k, column) + ": must be finite, got " + shortest_text(key));
      if (largest.wants(key))
        largest.add(
            {key, data.processes.rank(), i, k, batch.row_weights()[k], {values.begin(), values.end()}});
    }
    largest.count(batch.rows.rows);
    if (data.progress && !data.progress({i + 1, data.source.batches()})) throw Cancelled("cancelled");
  }
  return largest;
}

}  // namespace

Holdout hold_out(const Data& data, index_t count, index_t column) {
  const auto columns = static_cast<std::size_t>(data.source.columns());
  Processes::Share mine;
  try {
    mine.bytes = largest_here(data, count, column).to_bytes();
  } catch (...) {
    mine.error = std::current_exception();
  }
  const auto merge = [&](std::span<const Bytes> shares) {
    Largest all(count);
    for (const Bytes& share : shares) all.merge_bytes(share, columns);
    return all.to_bytes();
  };
  Largest all(count);
  all.merge_bytes(data.processes.exchange(mine, merge), columns);
  return all.result();
}

RemainingSource::RemainingSource(const BatchSource& whole, const Holdout& holdout, int rank) : whole_(whole) {
  for (const HeldRow& row : holdout.rows) {
    if (row.rank == rank) held_.emplace_back(row.batch, row.row);
  }
  std::sort(held_.begin(), held_.end());
}

void RemainingSource::read(index_t i, Batch& batch) const {
  whole_.read(i, batch);
  auto held = std::lower_bound(held_.begin(), held_.end(), Place(i, 0));
  if (held == held_.end() || held->first != i) return;
  std::vector<double> values, weights;
  for (index_t k = 0; k < batch.rows.rows; ++k) {
    if (held != held_.end() && *held == Place(i, k)) {
      ++held;
      continue;
    }
    values.insert(values.end(), batch.rows[k].begin(), batch.rows[k].end());
    if (!batch.weights.empty()) weights.push_back(batch.row_weights()[k]);
  }
  const index_t cols = batch.rows.cols, rows = static_cast<index_t>(values.size()) / cols;
  const std::size_t weights_begin = values.size();
  values.insert(values.end(), weights.begin(), weights.end());
  batch.storage = std::move(values);
  batch.rows = {batch.storage.data(), rows, cols};
  batch.weights = std::span(batch.storage).subspan(weights_begin);
  batch.owner.reset();
}

std::string RemainingSource::place(index_t batch, index_t row, index_t column) const {
  for (auto held = std::lower_bound(held_.begin(), held_.end(), Place(batch, 0));
       held != held_.end() && held->first == batch && held->second <= row; ++held)
    ++row;
  return whole_.place(batch, row, column);
}

}  // namespace fenchel::cli
