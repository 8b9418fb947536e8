#pragma once

/// Fenchel-Young and cross-Omega losses of each row on a GPU, with gradients and Hessian products.

#include <cstdint>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// The loss of each row (backend/cpu/entmax_loss.hpp) on a GPU, without reduction, for T = double, float,
/// Half and BFloat16; half types are computed in float. p is not stored. Targets are not checked: a class
/// outside of [0, cols) that is not the ignored one, or a negative or NaN target, gives NaN in its row.
namespace fenchel::cuda {

/// A class for each row in the memory of the GPU, or a distribution for each row; `cross` leaves out
/// Omega(q).
template <class T>
struct Targets {
  const std::int64_t* classes = nullptr;  ///< where it is null, `soft` is the target
  std::int64_t ignored = -100;
  DeviceRows<const T> soft = {};
  bool cross = false;
};

/// Null parts are not computed: the loss, p - q, and the derivative of the loss in alpha.
template <class T>
struct LossOutputs {
  Computed<T>* loss = nullptr;
  DeviceRows<Computed<T>> residual = {};
  double* grad_alpha = nullptr;
};

template <class T>
FENCHEL_EXPORT void entmax_loss(DeviceRows<const T> scores, PerRow alpha, const Targets<T>& targets,
                                const LossOutputs<T>& outputs, Stream stream);

/// The Hessian of each row's loss in scores and alpha times (d_scores, d_alpha), from the residual p - q. A
/// null input array means 0, and a null output is not computed.
template <class T>
FENCHEL_EXPORT void entmax_loss_curvature(DeviceRows<const Computed<T>> residual, PerRow alpha,
                                          const Targets<T>& targets, DeviceRows<const Computed<T>> d_scores,
                                          const double* d_alpha, DeviceRows<Computed<T>> product,
                                          double* product_alpha, Stream stream);

}  // namespace fenchel::cuda
