#pragma once

/// Functions of many beta-Gaussians, each with parameters of its own, with derivatives, on a GPU.

#include "fenchel/backend/cuda/views.hpp"
#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/config.hpp"

/// Many beta-Gaussians at once (backend/cpu/beta_gaussian_batch.hpp) on a GPU, in double, by the formulas of
/// the CPU. An element whose alpha has no distribution is NaN. Throw std::invalid_argument for a dimension
/// that does not fit or a null pointer.
namespace fenchel::cuda {

struct BetaGaussianBatch {
  index_t dimension = 1, count = 0;
  const double* argument = nullptr;  ///< null for a function without one
  const double* log_det = nullptr;
  const double* alpha = nullptr;
};

FENCHEL_EXPORT void beta_gaussian(BetaGaussianFunction function, const BetaGaussianBatch& batch, double* out,
                                  Stream stream);
/// count x 3 and count x 6 numbers.
FENCHEL_EXPORT void beta_gaussian_gradient(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                           double* out, bool in_alpha, Stream stream);
FENCHEL_EXPORT void beta_gaussian_hessian(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                          double* out, bool in_alpha, Stream stream);
/// The direction of the draw of each seed, count x dimension.
FENCHEL_EXPORT void draw_directions(const double* seeds, index_t count, index_t dimension, double* out,
                                    Stream stream);

}  // namespace fenchel::cuda
