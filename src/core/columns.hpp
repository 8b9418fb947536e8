#pragma once

#include <algorithm>

#include "core/compensated_sum.hpp"
#include "core/team_code.hpp"
#include "fenchel/core/index.hpp"
#include "fenchel/core/infinity.hpp"

namespace fenchel::detail {

/// The columns of a row as one thread visits them, in their order; on a GPU device::TeamColumns.
class AllColumns {
 public:
  /// What Newton's iteration on such sums can reach.
  static constexpr double kRounding = 1e-16;

  explicit AllColumns(index_t cols) noexcept : cols_(cols) {}

  /// first + second + terms(0) + terms(1) + ..., each a Totals.
  template <int kCount, class Terms>
  [[nodiscard]] Totals<kCount> sum(const Terms& terms, const Totals<kCount>& first = {},
                                   const Totals<kCount>& second = {}) const noexcept {
    CompensatedSum sums[kCount];
    for (int k = 0; k < kCount; ++k) sums[k].add(first.of[k]), sums[k].add(second.of[k]);
    for (index_t j = 0; j < cols_; ++j) {
      const Totals<kCount> term = terms(j);
      for (int k = 0; k < kCount; ++k) sums[k].add(term.of[k]);
    }
    Totals<kCount> result;
    for (int k = 0; k < kCount; ++k) result.of[k] = sums[k].total();
    return result;
  }
  /// Whether terms that are not negative add up to one or more.
  template <class Term>
  [[nodiscard]] bool reaches_one(const Term& term) const noexcept {
    double total = 0;
    for (index_t j = 0; j < cols_ && total < 1; ++j) total += term(j);
    return total >= 1;
  }
  /// The smallest of each number; infinity where there are no columns.
  template <int kCount, class Values>
  [[nodiscard]] Totals<kCount> smallest(const Values& values) const noexcept {
    Totals<kCount> result;
    std::fill_n(result.of, kCount, kInfinity);
    for (index_t j = 0; j < cols_; ++j) {
      const Totals<kCount> value = values(j);
      for (int k = 0; k < kCount; ++k) result.of[k] = std::min(result.of[k], value.of[k]);
    }
    return result;
  }
  /// The first column whose key(j) is the largest, of those with a key above -infinity; -1 for none.
  template <class Key>
  [[nodiscard]] index_t first_largest(const Key& key) const noexcept {
    index_t found = -1;
    double largest = -kInfinity;
    for (index_t j = 0; j < cols_; ++j) {
      const double own = key(j);
      if (own > largest) {
        largest = own;
        found = j;
      }
    }
    return found;
  }
  template <class Body>
  void each(const Body& body) const noexcept {
    for (index_t j = 0; j < cols_; ++j) body(j);
  }

 private:
  index_t cols_;
};

}  // namespace fenchel::detail
