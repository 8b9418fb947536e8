#pragma once

/// `entmax_vjp`, `entmax_jvp` and `entmax_vjp_vjp` on a GPU.

#include <span>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// The derivatives of backend/cpu/entmax_derivatives.hpp on a GPU, for T = double, float, Half and BFloat16.
/// Outputs may be one of the inputs other than p. Errors are those of cuda/entmax.hpp.
namespace fenchel::cuda {

template <class T>
FENCHEL_EXPORT void entmax_vjp(Input<T> p, PerRow alpha, Input<T> cotangent, DeviceRows<T> gradient,
                               std::span<double> alpha_gradient, Stream stream);

template <class T>
FENCHEL_EXPORT void entmax_jvp(Input<T> p, PerRow alpha, Input<T> direction,
                               std::span<const double> alpha_direction, DeviceRows<T> tangent, Stream stream);

template <class T>
FENCHEL_EXPORT void entmax_vjp_vjp(Input<T> p, PerRow alpha, Input<T> cotangent, Input<T> direction,
                                   std::span<const double> alpha_direction, DeviceRows<T> product,
                                   std::span<double> alpha_product, Stream stream);

}  // namespace fenchel::cuda
