#pragma once

/// `fusedmax` and its derivatives on a GPU.

#include <cstddef>
#include <span>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// fusedmax and its derivatives (backend/cpu/fusedmax.hpp, full chains of unit weights) on a GPU, for T =
/// double, float, Half and BFloat16. If gamma is negative or not finite, a gamma for all rows throws
/// std::domain_error, and a gamma for one row makes that row NaN.
namespace fenchel::cuda {

/// The memory that the map of so many rows needs beside its output, in bytes: none unless rows are long.
template <class T>
[[nodiscard]] FENCHEL_EXPORT std::size_t fusedmax_scratch_bytes(index_t rows, index_t cols) noexcept;

/// To kFusedmaxError, and the rounding of T. `scratch` is memory of the GPU, aligned to 16 bytes; without it
/// rows that need some are refused with std::invalid_argument. `p` may be the scores themselves. A row has
/// fewer than 2^30 columns.
template <class T>
FENCHEL_EXPORT void fusedmax(Input<T> scores, PerRow gamma, DeviceRows<T> p, void* scratch, Stream stream);
template <class T>
void fusedmax(Input<T> scores, PerRow gamma, DeviceRows<T> p, Stream stream) {
  fusedmax<T>(scores, gamma, p, nullptr, stream);
}

template <class T>
FENCHEL_EXPORT void fusedmax_vjp(Input<T> p, PerRow gamma, Input<T> cotangent, DeviceRows<T> gradient,
                                 std::span<double> gamma_gradient, Stream stream);

template <class T>
FENCHEL_EXPORT void fusedmax_jvp(Input<T> p, PerRow gamma, Input<T> direction,
                                 std::span<const double> gamma_direction, DeviceRows<T> tangent,
                                 Stream stream);

}  // namespace fenchel::cuda
