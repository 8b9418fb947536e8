#pragma once

#include <span>
#include <vector>

#include "fenchel/core/index.hpp"

namespace fenchel::detail {

/// Rows for the products below: an even number, at a stride of whole lanes, and 0 where nothing was written.
class PaddedRows {
 public:
  PaddedRows(index_t rows, index_t cols);

  [[nodiscard]] index_t cols() const noexcept { return cols_; }
  [[nodiscard]] index_t stride() const noexcept { return stride_; }
  [[nodiscard]] index_t padded_rows() const noexcept {
    return static_cast<index_t>(values_.size()) / stride_;
  }
  [[nodiscard]] double* row(index_t i) noexcept { return values_.data() + i * stride_; }
  [[nodiscard]] const double* row(index_t i) const noexcept { return values_.data() + i * stride_; }

 private:
  index_t cols_, stride_;
  std::vector<double> values_;
};

/// products(i, k) = <x_i, w_k> for the first `count` rows of x; entries of further rows and columns are
/// undefined. The order of each sum is fixed, whatever else is computed.
void multiply_rows(const PaddedRows& x, index_t count, const PaddedRows& w, PaddedRows& products);

/// sums_k += sum_i factors(i, k) x_i over the first `count` rows.
void add_multiples(const PaddedRows& factors, const PaddedRows& x, index_t count, PaddedRows& sums);

}  // namespace fenchel::detail
