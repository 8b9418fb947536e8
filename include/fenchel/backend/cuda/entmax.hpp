#pragma once

/// `entmax` on a GPU, for every alpha > 0.

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// The maps of backend/cpu/entmax.hpp on a GPU, for T = double, float, Half and BFloat16: the same masks
/// (-inf), the same NaN rows, every alpha > 0. `p` may be `scores` itself. Half types are computed in float
/// and rounded once. Throws std::invalid_argument for shapes that do not fit, no columns or a null view,
/// std::domain_error for a shared alpha that is not positive; a row whose own alpha is not becomes NaN.
namespace fenchel::cuda {

/// |sum - 1| of a row in float and double; a half type's p is that one rounded.
template <class T>
inline constexpr double kRowSumError = sizeof(T) == 8 ? 1e-13 : 1e-6;

template <class T>
FENCHEL_EXPORT void entmax(Input<T> scores, PerRow alpha, DeviceRows<T> p, Stream stream);

}  // namespace fenchel::cuda
