#pragma once

/// `entmax` on a GPU, for every alpha > 0.

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// The maps of backend/cpu/entmax.hpp on a GPU, for T = double, float, Half and BFloat16, with the same masks
/// and NaN rows, for every alpha > 0. `p` may be `scores` itself. Half types are computed in float and
/// rounded once. Throws std::invalid_argument for shapes that do not fit, no columns or a null view. If alpha
/// is not positive, an alpha for all rows throws std::domain_error, and an alpha for one row makes that row
/// NaN.
namespace fenchel::cuda {

/// A bound of |sum - 1| for each row in float and double; p of a half type is such a p, rounded.
template <class T>
double row_sum_error(index_t /*cols*/) noexcept {
  return sizeof(T) == 8 ? 1e-13 : 1e-6;
}

template <class T>
FENCHEL_EXPORT void entmax(Input<T> scores, PerRow alpha, DeviceRows<T> p, Stream stream);

}  // namespace fenchel::cuda
