#pragma once

/// `match_weights` and its derivatives on a GPU.

#include <optional>
#include <span>

#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// From weights over positions to a density (backend/cpu/match_weights.hpp) on a GPU, for Real = float and
/// double; all arithmetic is in double. A row that the CPU refuses becomes NaN. Points are contiguous, one
/// after the other. D is at most 64; 1, 2 and 3 are fast.
namespace fenchel::cuda {

using WeightPositions = WeightPositionViews<DeviceRows>;

template <class Real>
FENCHEL_EXPORT void match_weights(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                                  std::optional<double> floor, const DensityTangents<Real>& density,
                                  Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_vjp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                                      std::optional<double> floor,
                                      const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                                      DeviceRows<Real> gradient,
                                      std::span<std::type_identity_t<Real>> alpha_gradient, Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_jvp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                                      std::optional<double> floor, Input<Real> direction,
                                      std::span<const std::type_identity_t<Real>> alpha_direction,
                                      const DensityTangents<Real>& tangent, Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_vjp_vjp(PerRow alpha, Input<Real> weights, const WeightPositions& positions,
                                          std::optional<double> floor,
                                          const DensityTangents<const std::type_identity_t<Real>>& cotangent,
                                          Input<Real> direction,
                                          std::span<const std::type_identity_t<Real>> alpha_direction,
                                          DeviceRows<Real> product,
                                          std::span<std::type_identity_t<Real>> alpha_product, Stream stream);

}  // namespace fenchel::cuda
