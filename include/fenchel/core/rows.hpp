#pragma once

/// `Rows`, a view of a batch at any stride, and `PerRow`, one number for all rows or one for each.

#include <span>
#include <type_traits>

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// A batch of contiguous rows in memory that the caller owns; neighbouring rows are `stride` elements apart.
/// The stride may be 0 (one row repeated, read only) or negative.
template <class T>
struct Rows {
  T* data = nullptr;
  index_t rows = 0;
  index_t cols = 0;
  index_t stride = 0;

  constexpr Rows() = default;
  constexpr Rows(T* first, index_t row_count, index_t col_count) noexcept
      : Rows(first, row_count, col_count, col_count) {}
  constexpr Rows(T* first, index_t row_count, index_t col_count, index_t row_stride) noexcept
      : data(first), rows(row_count), cols(col_count), stride(row_stride) {}

  /// Rows that can be written can be read.
  template <class U = T>
  requires(!std::is_const_v<U>) constexpr operator Rows<const U>() const noexcept {
    return {data, rows, cols, stride};
  }

  [[nodiscard]] constexpr T* row(index_t i) const noexcept { return data + i * stride; }
  [[nodiscard]] constexpr std::span<T> operator[](index_t i) const noexcept {
    return {row(i), static_cast<std::size_t>(cols)};
  }
};

/// One number for all rows of a batch, or one for each row, in the memory that the rows are in.
class PerRow {
 public:
  constexpr PerRow(double value) noexcept : value_(value) {}  // implicit: entmax(z, 1.5, p)
  /// From a span, a vector or an array, which must outlive this.
  template <class Range>
  requires std::is_constructible_v < std::span<const double>,
  const Range& > constexpr PerRow(const Range& values) noexcept : PerRow(std::span<const double>(values)) {}
  constexpr PerRow(std::span<const double> values) noexcept
      : values_(values.data()), size_(static_cast<index_t>(values.size())), per_row_(true) {}

  [[nodiscard]] FENCHEL_HD constexpr double operator[](index_t i) const noexcept {
    return per_row_ ? values_[i] : value_;
  }
  /// How many values there are; 1 for a value that serves every row.
  [[nodiscard]] constexpr index_t size() const noexcept { return size_; }
  [[nodiscard]] FENCHEL_HD constexpr bool per_row() const noexcept { return per_row_; }

 private:
  const double* values_ = nullptr;
  index_t size_ = 1;
  double value_ = 0;
  bool per_row_ = false;
};

}  // namespace fenchel
