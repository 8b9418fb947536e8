#pragma once

/// `GroupStatistics`: statistics of each group of rows.

#include <cstddef>
#include <functional>
#include <iterator>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/data/data_error.hpp"
#include "fenchel/estimate/statistics/statistics.hpp"

namespace fenchel {
namespace detail {

/// The rows of one group of a batch: where they are in it, their values and their weights.
struct RowsOfGroup {
  std::vector<index_t> places;
  std::vector<double> values, weights;
};
/// Of rows of a value and the number of a group. Throws BadEntry for what is not finite.
[[nodiscard]] FENCHEL_EXPORT std::map<double, RowsOfGroup> group_rows(Rows<const double> rows,
                                                                      PerRow weights);
/// The weights of those rows among all, 0 for the others.
[[nodiscard]] FENCHEL_EXPORT std::vector<double> group_weights(Rows<const double> rows, PerRow weights,
                                                               const RowsOfGroup& group);
/// Throws std::domain_error for more than kMostGroups.
FENCHEL_EXPORT void check_groups(std::size_t groups);
[[nodiscard]] FENCHEL_EXPORT Bytes group_bytes(const std::map<double, Bytes>& groups);
[[nodiscard]] FENCHEL_EXPORT std::map<double, Bytes> read_groups(std::span<const std::byte> bytes);

}  // namespace detail

inline constexpr std::size_t kMostGroups = std::size_t{1} << 16;

/// Statistics of each group of rows, where the last of two columns is the number of the group: in memory that
/// grows with the number of groups.
template <Statistics S>
class GroupStatistics {
 public:
  /// `empty` makes the statistics of a group, without rows.
  explicit GroupStatistics(std::function<S(double group)> empty) : empty_(std::move(empty)) {}

  /// Throws what S does, and std::domain_error for more than kMostGroups groups.
  void update(Rows<const double> rows, PerRow weights = 1.0) {
    for (const auto& [group, mine] : detail::group_rows(rows, weights)) {
      try {
        of(group).update({mine.values.data(), std::ssize(mine.values), 1}, mine.weights);
      } catch (const BadEntry&) {  // once more among all rows, which the message is to count
        of(group).update({rows.data, rows.rows, 1, rows.stride}, detail::group_weights(rows, weights, mine));
      }
    }
  }
  void merge(const GroupStatistics& other) {
    for (const auto& [group, statistics] : other.groups_) of(group).merge(statistics);
  }
  [[nodiscard]] Bytes to_bytes() const {
    std::map<double, Bytes> all;
    for (const auto& [group, statistics] : groups_) all.emplace(group, statistics.to_bytes());
    return detail::group_bytes(all);
  }
  /// Throws std::invalid_argument for what to_bytes does not write.
  void merge_bytes(std::span<const std::byte> bytes) {
    for (const auto& [group, of_group] : detail::read_groups(bytes)) of(group).merge_bytes(of_group);
  }

  /// By the numbers of the groups, ascending.
  [[nodiscard]] const std::map<double, S>& groups() const noexcept { return groups_; }

 private:
  [[nodiscard]] S& of(double group) {
    const auto found = groups_.find(group);
    if (found != groups_.end()) return found->second;
    detail::check_groups(groups_.size() + 1);
    return groups_.emplace(group, empty_(group)).first->second;
  }

  std::function<S(double)> empty_;
  std::map<double, S> groups_;
};

}  // namespace fenchel
