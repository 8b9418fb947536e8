#pragma once

/// `entmax_vjp`, `entmax_jvp` and `entmax_vjp_vjp` on a GPU.

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// The derivatives of backend/cpu/entmax_derivatives.hpp on a GPU, for T = double, float, Half and BFloat16.
/// Arrays with one number for each row are of double, in the memory of the GPU. A null input array means 0,
/// and a null output is not computed. Outputs may be one of the inputs other than p. Errors are those of
/// cuda/entmax.hpp.
namespace fenchel::cuda {

template <class T>
FENCHEL_EXPORT void entmax_vjp(Input<T> p, PerRow alpha, Input<T> grad_p, DeviceRows<T> grad_scores,
                               double* grad_alpha, Stream stream);

template <class T>
FENCHEL_EXPORT void entmax_jvp(Input<T> p, PerRow alpha, Input<T> d_scores, const double* d_alpha,
                               DeviceRows<T> d_p, Stream stream);

template <class T>
FENCHEL_EXPORT void entmax_vjp_vjp(Input<T> p, PerRow alpha, Input<T> grad_p, Input<T> weight_scores,
                                   const double* weight_alpha, DeviceRows<T> grad_scores, double* grad_alpha,
                                   Stream stream);

}  // namespace fenchel::cuda
