#pragma once

/// `fusedmax` and its derivatives on a GPU.

#include <cstddef>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// fusedmax and its derivatives (backend/cpu/fusedmax.hpp, full chains of unit weights) on a GPU, for T =
/// double, float, Half and BFloat16. If gamma is negative or not finite, a gamma for all rows throws
/// std::domain_error, and a gamma for one row makes that row NaN.
namespace fenchel::cuda {

/// The memory that the map of so many rows needs beside its output, in bytes: none unless rows are long.
template <class T>
[[nodiscard]] FENCHEL_EXPORT std::size_t fusedmax_scratch_bytes(index_t rows, index_t cols) noexcept;

/// To kFusedmaxError, and the rounding of T. `scratch` is memory of the GPU, aligned to 16 bytes. `p` may be
/// the scores themselves. A row has fewer than 2^30 columns.
template <class T>
FENCHEL_EXPORT void fusedmax(Input<T> scores, PerRow gamma, DeviceRows<T> p, void* scratch, Stream stream);

template <class T>
FENCHEL_EXPORT void fusedmax_vjp(Input<T> p, PerRow gamma, Input<T> grad_p, DeviceRows<T> grad_scores,
                                 double* grad_gamma, Stream stream);

template <class T>
FENCHEL_EXPORT void fusedmax_jvp(Input<T> p, PerRow gamma, Input<T> d_scores, const double* d_gamma,
                                 DeviceRows<T> d_p, Stream stream);

}  // namespace fenchel::cuda
