#pragma once

#include <driver_types.h>

#include <string>
#include <string_view>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/error.hpp"

/// What can be checked without a look into the memory of the GPU.
namespace fenchel::cuda {

/// Throws CudaError, "fenchel::cuda::entmax: invalid device function (98)", unless the call succeeded.
void throw_if_failed(std::string_view where, cudaError_t error);

template <class T>
void check_view(std::string_view where, std::string_view name, const DeviceRows<T>& x) {
  if (x.rows < 0)
    throw_invalid_argument(where, name, "must have a number of rows that is not negative", x.rows);
  if (x.cols < 1) throw_invalid_argument(where, name, "must have at least one column", x.cols);
  if (x.data == nullptr && x.rows > 0) throw_invalid_argument(where, name, "must not be null", "a null view");
}

template <class T, class U>
void check_same_shape(std::string_view where, std::string_view name, const DeviceRows<T>& x,
                      std::string_view other, const DeviceRows<U>& y) {
  check_view(where, name, x);
  if (x.rows != y.rows) {
    throw_invalid_argument(
        where, name, "must have as many rows as " + std::string(other) + ", " + shortest(y.rows), x.rows);
  }
  if (x.cols != y.cols) {
    throw_invalid_argument(
        where, name, "must have as many columns as " + std::string(other) + ", " + shortest(y.cols), x.cols);
  }
}

/// A view of this shape.
template <class T>
void check_matrix(std::string_view where, std::string_view name, const DeviceRows<T>& x, index_t rows,
                  index_t cols) {
  const auto require = [&](std::string_view part, index_t got, index_t expected) {
    if (got == expected) return;
    throw_invalid_argument(where, std::string(name).append(part), "must be " + shortest(expected), got);
  };
  require(".rows", x.rows, rows);
  require(".cols", x.cols, cols);
  check_view(where, name, x);
}

/// Columns that are neighbours.
template <class T>
void check_step(std::string_view where, std::string_view name, const DeviceRows<T>& x) {
  if (x.cols > 1 && x.step != 1) {
    throw_invalid_argument(where, std::string(name) + ".step", "must be 1", x.step);
  }
}

/// Rows that lie one after the other.
template <class T>
void check_contiguous(std::string_view where, std::string_view name, const DeviceRows<T>& x) {
  check_step(where, name, x);
  if (x.rows <= 1) return;
  const bool together =
      (x.inner <= 1 || x.stride == x.cols) && (x.inner >= x.rows || x.outer_stride == x.inner * x.cols);
  if (!together) throw_invalid_argument(where, name, "must be contiguous", "rows at a distance");
}

/// As many numbers as there are rows.
inline void check_count(std::string_view where, std::string_view name, std::size_t size, index_t rows) {
  if (static_cast<index_t>(size) == rows) return;
  throw_invalid_argument(where, std::string(name) + ".size()",
                         "must equal the number of rows, " + shortest(rows), static_cast<index_t>(size));
}
/// The same, or none.
inline void check_numbers(std::string_view where, std::string_view name, std::size_t size, index_t rows) {
  if (size != 0) check_count(where, name, size, rows);
}

/// How many there are; what those of rows are is in the memory of the GPU.
inline void check_per_row(std::string_view where, std::string_view name, PerRow x, index_t rows) {
  if (x.per_row()) check_count(where, name, static_cast<std::size_t>(x.size()), rows);
}

inline void check_alpha(std::string_view where, PerRow alpha, index_t rows) {
  check_per_row(where, "alpha", alpha, rows);
  if (!alpha.per_row() && !(alpha[0] > 0)) throw_domain_error(where, "alpha", "must be positive", alpha[0]);
}

}  // namespace fenchel::cuda
