#include "cli/commands/holdout.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <numeric>
#include <set>
#include <tuple>

#include "cli/program/interrupt.hpp"
#include "cli/tables/format.hpp"
#include "fenchel/core/philox.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/distribution/line/beta_gaussian.hpp"

namespace fenchel::cli {
namespace {

constexpr index_t kRowsBetweenLooks = 1 << 16;  // for a signal

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

Keeps all_but(const Holdout& holdout, int rank) {
  std::set<std::pair<index_t, index_t>> held;
  for (const HeldRow& row : holdout.rows) {
    if (row.rank == rank) held.emplace(row.batch, row.row);
  }
  return [held](index_t batch, index_t row) { return !held.contains({batch, row}); };
}

Keeps others(const Keeps& keeps) {
  return [keeps](index_t batch, index_t row) { return !keeps(batch, row); };
}

void FilteredSource::read(index_t i, Batch& batch) const {
  Batch all;
  whole_.read(i, all);
  std::vector<double> values, weights;
  for (index_t k = 0; k < all.rows.rows; ++k) {
    if (!keeps_(i, k)) continue;
    values.insert(values.end(), all.rows[k].begin(), all.rows[k].end());
    if (!all.weights.empty()) weights.push_back(all.row_weights()[k]);
  }
  const index_t cols = all.rows.cols, rows = static_cast<index_t>(values.size()) / cols;
  const std::size_t weights_begin = values.size();
  values.insert(values.end(), weights.begin(), weights.end());
  batch.storage = std::move(values);
  batch.rows = {batch.storage.data(), rows, cols};
  batch.weights = std::span(batch.storage).subspan(weights_begin);
  batch.owner.reset();
}

std::string FilteredSource::place(index_t batch, index_t row, index_t column) const {
  index_t found = 0;
  for (index_t kept = 0; kept < row || !keeps_(batch, found); ++found) kept += keeps_(batch, found) ? 1 : 0;
  return whole_.place(batch, found, column);
}

RandomParts::RandomParts(const Data& data, std::uint64_t seed, std::vector<double> ends)
    : seed_(seed), ends_(std::move(ends)), rows_(ends_.size()) {
  Processes::Share mine;
  std::vector<index_t> counts;
  try {
    Batch batch;
    for (index_t i = 0; i < data.source.batches(); ++i) {
      data.source.read(i, batch);
      counts.push_back(batch.rows.rows);
      if (data.progress && !data.progress({i + 1, data.source.batches()})) throw Cancelled("cancelled");
    }
    const auto bytes = std::as_bytes(std::span(counts));
    mine.bytes = {bytes.begin(), bytes.end()};
  } catch (...) {
    mine.error = std::current_exception();
  }
  // The processes have consecutive batches: the number of rows before each of them, and of all.
  const auto add_up = [&](std::span<const Bytes> shares) {
    std::vector<index_t> before{0};
    for (const Bytes& share : shares) {
      std::vector<index_t> theirs(share.size() / sizeof(index_t));
      std::memcpy(theirs.data(), share.data(), share.size());
      before.push_back(std::accumulate(theirs.begin(), theirs.end(), before.back()));
    }
    const auto bytes = std::as_bytes(std::span(before));
    return Bytes(bytes.begin(), bytes.end());
  };
  const Bytes shared = data.processes.exchange(mine, add_up);
  std::vector<index_t> before(shared.size() / sizeof(index_t));
  std::memcpy(before.data(), shared.data(), shared.size());
  index_t number = before[static_cast<std::size_t>(data.processes.rank())];
  for (const index_t count : counts) {
    first_.push_back(number);
    number += count;
  }
  for (index_t i = 0; i < before.back(); ++i) {
    if (i % kRowsBetweenLooks == 0) check_interrupt();
    ++rows_[part_of(i)];
  }
}

std::size_t RandomParts::part_of(index_t number) const {
  static const BetaGaussian uniform = BetaGaussian::uniform(0, 1);
  Philox random(seed_, static_cast<std::uint64_t>(number));
  const auto found = std::upper_bound(ends_.begin(), ends_.end() - 1, sample(uniform, random));
  return static_cast<std::size_t>(found - ends_.begin());
}

std::size_t RandomParts::part(index_t batch, index_t row) const {
  return part_of(first_[static_cast<std::size_t>(batch)] + row);
}

index_t RandomParts::total() const { return std::accumulate(rows_.begin(), rows_.end(), index_t{0}); }

}  // namespace fenchel::cli
