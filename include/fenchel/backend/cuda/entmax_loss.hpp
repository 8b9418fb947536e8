#pragma once

/// Fenchel-Young and cross-Omega losses of each row on a GPU, with gradients and Hessian products.

#include <span>
#include <type_traits>

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/loss_views.hpp"
#include "fenchel/core/config.hpp"

/// The loss of each row (backend/cpu/entmax_loss.hpp) on a GPU, without reduction, for T = double, float,
/// Half and BFloat16; half types are computed in float. p is not stored. Targets are not checked: a class
/// outside of [0, cols) that is not the ignored one, or a negative or NaN target, gives NaN in its row.
namespace fenchel::cuda {

using fenchel::ClassTargets, fenchel::kTargetSumTolerance;
template <class T>
using SoftTargets = SoftTargetViews<DeviceRows, T>;
template <class T>
using LossOutputs = LossOutputViews<DeviceRows, Computed<T>>;
template <class Real>
using LossCurvature = LossCurvatureViews<DeviceRows, Real>;

template <class T>
FENCHEL_EXPORT void entmax_loss(DeviceRows<const T> scores, PerRow alpha, const ClassTargets& targets,
                                const LossOutputs<T>& outputs, Stream stream);
template <class T>
FENCHEL_EXPORT void entmax_loss(DeviceRows<const T> scores, PerRow alpha,
                                const std::type_identity_t<SoftTargets<T>>& targets,
                                const LossOutputs<T>& outputs, Stream stream);
template <class T>
FENCHEL_EXPORT void cross_omega(DeviceRows<const T> scores, PerRow alpha,
                                const std::type_identity_t<SoftTargets<T>>& targets,
                                const LossOutputs<T>& outputs, Stream stream);

/// The gradient is of the type of the scores, and cotangent of the type that they are computed in.
template <class T>
FENCHEL_EXPORT void entmax_loss_vjp(DeviceRows<const T> scores, PerRow alpha, const ClassTargets& targets,
                                    std::span<const Computed<T>> cotangent, DeviceRows<T> gradient,
                                    Stream stream);
template <class T>
FENCHEL_EXPORT void entmax_loss_vjp(DeviceRows<const T> scores, PerRow alpha,
                                    const std::type_identity_t<SoftTargets<T>>& targets,
                                    std::span<const Computed<T>> cotangent, DeviceRows<T> gradient,
                                    Stream stream);

/// For Real = float and double.
template <class Real>
FENCHEL_EXPORT void entmax_loss_curvature(Input<Real> residual, PerRow alpha, const ClassTargets& targets,
                                          const LossCurvature<Real>& curvature, Stream stream);
template <class Real>
FENCHEL_EXPORT void entmax_loss_curvature(Input<Real> residual, PerRow alpha,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossCurvature<Real>& curvature, Stream stream);
template <class Real>
FENCHEL_EXPORT void cross_omega_curvature(Input<Real> residual, PerRow alpha,
                                          const std::type_identity_t<SoftTargets<Real>>& targets,
                                          const LossCurvature<Real>& curvature, Stream stream);

}  // namespace fenchel::cuda
