#pragma once

#include <algorithm>
#include <vector>

#include "fenchel/backend/cpu/attention.hpp"

namespace fenchel::detail {

/// Functions on the line as their kernels take them: in whole blocks, the last function repeated, and in an
/// order in which blocks that follow each other have widths that are alike.
class LineFunctions {
 public:
  static constexpr index_t kBlock = 16;
  explicit LineFunctions(const cpu::GaussianFunctions& psi);

  [[nodiscard]] index_t size() const noexcept { return size_; }
  /// What a block of results must have room for.
  [[nodiscard]] index_t whole_size() const noexcept { return whole_; }
  [[nodiscard]] const double* mean() const noexcept { return memory_.data(); }
  [[nodiscard]] const double* width() const noexcept { return memory_.data() + whole_; }
  [[nodiscard]] const double* inverse_width() const noexcept { return memory_.data() + 2 * whole_; }
  /// The same in the caller's order.
  [[nodiscard]] const double* given_mean() const noexcept { return memory_.data() + 3 * whole_; }
  [[nodiscard]] const double* given_width() const noexcept { return memory_.data() + 4 * whole_; }
  /// Which of the caller's functions is number k; empty where all are in their places.
  [[nodiscard]] const std::vector<index_t>& order() const noexcept { return order_; }

  /// How many numbers attend_line_row needs to bring so many blocks of results back into their places.
  [[nodiscard]] index_t sorted_size(index_t block_count) const noexcept {
    return order_.empty() ? 0 : whole_ * block_count;
  }

  /// Functions [begin, end), whole blocks, with the least and the largest of their means and widths.
  struct Range {
    index_t begin, end;
    double lowest, highest, narrowest, widest;
  };
  [[nodiscard]] const std::vector<Range>& blocks() const noexcept { return blocks_; }
  /// Blocks that follow each other and whose widths differ by a factor of kAlike at most.
  [[nodiscard]] const std::vector<Range>& groups() const noexcept { return groups_; }

 private:
  static constexpr double kAlike = 1.25;
  void fill(const cpu::GaussianFunctions& psi);
  void find_groups();
  [[nodiscard]] bool is_mixed() const noexcept;
  void sort(const cpu::GaussianFunctions& psi);

  index_t size_, whole_;
  std::vector<double> memory_;
  std::vector<Range> blocks_, groups_;
  std::vector<index_t> order_;
};

}  // namespace fenchel::detail
