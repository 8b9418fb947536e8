#pragma once

/// `entmax` over weighted nodes, with derivatives and losses, on a GPU.

#include <type_traits>

#include "fenchel/backend/cuda/entmax_loss.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/backend/weighted_views.hpp"
#include "fenchel/core/config.hpp"

/// The functions of backend/cpu/weighted_entmax.hpp on a GPU: the map and its derivatives for T = double,
/// float, Half and BFloat16, the losses for double and float. All are computed in double. A row with a weight
/// that is negative or not finite becomes NaN, as does one with a class or a target out of range, or with an
/// alpha of its own that is not positive.
namespace fenchel::cuda {

template <class T>
using NodeDirection = NodeDirectionViews<DeviceRows, T>;
template <class T>
using NodeGradient = NodeGradientViews<DeviceRows, T>;
template <class Real>
using WeightedLossOutputs = WeightedLossViews<DeviceRows, Real>;

template <class T>
FENCHEL_EXPORT void weighted_entmax(Input<T> scores, Input<T> weights, PerRow alpha, DeviceRows<T> p,
                                    Stream stream);

template <class T>
FENCHEL_EXPORT void weighted_entmax_vjp(Input<T> p, Input<T> weights, PerRow alpha, Input<T> cotangent,
                                        const NodeGradient<T>& gradient, Stream stream);

template <class T>
FENCHEL_EXPORT void weighted_entmax_jvp(Input<T> p, Input<T> weights, PerRow alpha,
                                        const std::type_identity_t<NodeDirection<T>>& direction,
                                        DeviceRows<T> tangent, Stream stream);

template <class T>
FENCHEL_EXPORT void weighted_entmax_vjp_vjp(Input<T> p, Input<T> weights, PerRow alpha, Input<T> cotangent,
                                            const std::type_identity_t<NodeDirection<T>>& direction,
                                            const NodeGradient<T>& product, Stream stream);

template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const ClassTargets& targets,
                                         const WeightedLossOutputs<Real>& outputs, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const std::type_identity_t<SoftTargets<Real>>& targets,
                                         const WeightedLossOutputs<Real>& outputs, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const ClassTargets& targets,
                                         const WeightedLossOutputs<Real>& outputs, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega(Input<Real> scores, Input<Real> weights, PerRow alpha,
                                         const std::type_identity_t<SoftTargets<Real>>& targets,
                                         const WeightedLossOutputs<Real>& outputs, Stream stream);

template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const ClassTargets& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_entmax_loss_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const std::type_identity_t<SoftTargets<Real>>& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const ClassTargets& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product, Stream stream);
template <class Real>
FENCHEL_EXPORT void weighted_cross_omega_curvature(Input<Real> residual, Input<Real> weights, PerRow alpha,
                                                   const std::type_identity_t<SoftTargets<Real>>& targets,
                                                   const std::type_identity_t<NodeDirection<Real>>& direction,
                                                   const NodeGradient<Real>& product, Stream stream);

}  // namespace fenchel::cuda
