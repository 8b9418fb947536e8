#pragma once

/// `match_weights` and its derivatives on a GPU.

#include <cstdint>
#include <optional>

#include "fenchel/backend/cuda/attention.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/config.hpp"

/// From weights over positions to a density (backend/cpu/match_weights.hpp) on a GPU, for Real = float and
/// double; all arithmetic is in double. A row that the CPU refuses becomes NaN. mu, Sigma and alpha are
/// contiguous.
namespace fenchel::cuda {

/// As on the CPU: L x D points, or none for the line; a length for each row, or none. D is at most 64; 1, 2
/// and 3 are fast.
struct WeightPositions {
  const double* points = nullptr;
  index_t dimension = 1;
  const std::int64_t* lengths = nullptr;
};

template <class Real>
FENCHEL_EXPORT void match_weights(DeviceRows<const Real> weights, const WeightPositions& positions,
                                  PerRow alpha, std::optional<double> floor,
                                  const DensityTangents<Real>& density, Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_vjp(DeviceRows<const Real> weights, const WeightPositions& positions,
                                      PerRow alpha, std::optional<double> floor,
                                      const DensityTangents<const Real>& cotangent,
                                      DeviceRows<Real> weights_gradient, Real* alpha_gradient, Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_jvp(DeviceRows<const Real> weights, const WeightPositions& positions,
                                      PerRow alpha, std::optional<double> floor,
                                      DeviceRows<const Real> direction, const Real* alpha_direction,
                                      const DensityTangents<Real>& tangent, Stream stream);

template <class Real>
FENCHEL_EXPORT void match_weights_vjp_vjp(DeviceRows<const Real> weights, const WeightPositions& positions,
                                          PerRow alpha, std::optional<double> floor,
                                          const DensityTangents<const Real>& cotangent,
                                          DeviceRows<const Real> direction, const Real* alpha_direction,
                                          DeviceRows<Real> weights_product, Real* alpha_product,
                                          Stream stream);

}  // namespace fenchel::cuda
