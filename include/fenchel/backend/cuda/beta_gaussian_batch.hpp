#pragma once

/// Functions of many beta-Gaussians, each with parameters of its own, with derivatives, on a GPU.

#include <span>

#include "fenchel/backend/beta_gaussian_batch.hpp"
#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/config.hpp"

/// Many beta-Gaussians at once (backend/cpu/beta_gaussian_batch.hpp) on a GPU, in double, by the formulas of
/// the CPU. An element whose alpha has no distribution is NaN. The rows that are written are contiguous, one
/// after the other. Throw std::invalid_argument for sizes that do not fit.
namespace fenchel::cuda {

using fenchel::BetaGaussianBatch;

FENCHEL_EXPORT void beta_gaussian(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                  std::span<double> out, Stream stream);
FENCHEL_EXPORT void beta_gaussian_gradient(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                           DeviceRows<double> out, bool in_alpha, Stream stream);
FENCHEL_EXPORT void beta_gaussian_hessian(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                          DeviceRows<double> out, bool in_alpha, Stream stream);
FENCHEL_EXPORT void draw_directions(std::span<const double> seeds, DeviceRows<double> out, Stream stream);

}  // namespace fenchel::cuda
