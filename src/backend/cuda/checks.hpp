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

inline void check_pointer(std::string_view where, std::string_view name, const void* pointer) {
  if (pointer == nullptr) throw_invalid_argument(where, name, "must not be null", "a null pointer");
}

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

/// A shared alpha; those of rows are in the memory of the GPU.
inline void check_alpha(std::string_view where, const PerRow& alpha) {
  if (alpha.values == nullptr && !(alpha.shared > 0)) {
    throw_domain_error(where, "alpha", "must be positive", alpha.shared);
  }
}

}  // namespace fenchel::cuda
