#pragma once

#include <algorithm>
#include <array>
#include <span>

#include "backend/cpu/dot_product/query_blocks.hpp"
#include "core/lanes/lanes.hpp"
#include "fenchel/backend/dot_product_views.hpp"
#include "fenchel/core/index.hpp"

/// Which keys a block of queries reads: a causal one the first ones, one with ranges those near its windows.
namespace fenchel::detail {

/// Consecutive keys.
struct KeyInterval {
  index_t first, last;  ///< the last is not one of them

  [[nodiscard]] bool is_empty() const noexcept { return first >= last; }
};

/// The keys that a query may see, but for masks: its sinks, and then its window.
struct QueryKeys {
  KeyInterval sinks, window;
};

template <class Real>
QueryKeys keys_of(const DotProducts<Real>& x, index_t b, index_t query) noexcept {
  if (x.ranges == nullptr) return {{0, 0}, {0, x.causal ? std::min(x.key.rows, query + 1) : x.key.rows}};
  const KeyRange& range = x.ranges[b * x.query.rows + query];
  const index_t sinks = std::min<index_t>(x.sinks, range.first - range.origin);
  return {{range.origin, range.origin + sinks}, {range.first, range.last}};
}

/// Consecutive keys, whose scores stand from `column` on in the rows of a block.
struct KeyRun {
  index_t column, first, count;

  [[nodiscard]] bool has(index_t key) const noexcept { return first <= key && key < first + count; }
};

/// Runs of whole panels of packed keys, in order, that have every key that some query of a block may see. The
/// last run ends with such a key.
template <class Real>
class BlockKeys {
 public:
  BlockKeys() = default;
  BlockKeys(const DotProducts<Real>& x, const QueryBlock& block) noexcept {
    std::array<KeyInterval, 2 * QueryBlocks::kQueries> seen;
    index_t count = 0;
    const auto note = [&](KeyInterval own) {
      if (!own.is_empty()) seen[static_cast<std::size_t>(count++)] = own;
    };
    for (index_t i = 0; i < block.count; ++i) {
      const QueryKeys own = keys_of(x, block.b, block.first + i);
      note(own.sinks);
      note(own.window);
    }
    const auto all = std::span(seen).first(static_cast<std::size_t>(count));
    std::sort(all.begin(), all.end(), [](auto left, auto right) { return left.first < right.first; });
    for (const KeyInterval& own : all) add(own);
  }

  [[nodiscard]] std::span<const KeyRun> runs() const noexcept {
    return std::span(runs_).first(static_cast<std::size_t>(count_));
  }
  /// How many columns of scores there are.
  [[nodiscard]] index_t columns() const noexcept { return count_ == 0 ? 0 : last().column + last().count; }

  /// The column of a key that some query sees.
  [[nodiscard]] index_t column_of(index_t key) const noexcept {
    const KeyRun* run = runs_.data();
    while (!run->has(key)) ++run;
    return run->column + key - run->first;
  }

  /// Columns, which increase, become keys.
  void to_keys(index_t count, index_t* places) const noexcept {
    if (count_ == 1 && runs_[0].first == 0) return;
    const KeyRun* run = runs_.data();
    for (index_t k = 0; k < count; ++k) {
      while (places[k] >= run->column + run->count) ++run;
      places[k] += run->first - run->column;
    }
  }

 private:
  static constexpr index_t kPanel = kLanes<Real>;
  static index_t panel_end(index_t key) noexcept { return (key + kPanel - 1) / kPanel * kPanel; }

  [[nodiscard]] const KeyRun& last() const noexcept { return runs_[static_cast<std::size_t>(count_ - 1)]; }

  /// Intervals come in the order of their first keys.
  void add(KeyInterval own) noexcept {
    const index_t first = own.first / kPanel * kPanel;
    if (count_ > 0) {
      KeyRun& before = runs_[static_cast<std::size_t>(count_ - 1)];
      const index_t end = panel_end(before.first + before.count);
      if (first <= end) {
        before.count = std::max(before.count, own.last - before.first);
        return;
      }
      before.count = end - before.first;
    }
    runs_[static_cast<std::size_t>(count_)] = {columns(), first, own.last - first};
    ++count_;
  }

  std::array<KeyRun, 2 * QueryBlocks::kQueries> runs_ = {};
  index_t count_ = 0;
};

}  // namespace fenchel::detail
