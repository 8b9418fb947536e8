#pragma once

/// Functions of many beta-Gaussians, each with parameters of its own, with first and second derivatives.

#include <span>

#include "fenchel/backend/beta_gaussian_batch.hpp"
#include "fenchel/core/beta_gaussian_jet.hpp"
#include "fenchel/core/config.hpp"
#include "fenchel/core/rows.hpp"

/// Many beta-Gaussians on R^n at once, each with its own Sigma and alpha: the functions of
/// beta_gaussian_jet.hpp and their derivatives, element by element, in double. Throw std::invalid_argument
/// for sizes that do not fit, std::domain_error unless alpha > max(0, 1 - 2/n).
namespace fenchel::cpu {

using fenchel::BetaGaussianBatch;

FENCHEL_EXPORT void beta_gaussian(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                  std::span<double> out);

/// A row of `out` for each element: the derivatives in (argument, log det Sigma, alpha), or the second
/// derivatives 00, 01, 02, 11, 12, 22. Those in alpha of cdf and quantile take an integral, and may be NaN
/// unless `in_alpha`.
FENCHEL_EXPORT void beta_gaussian_gradient(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                           Rows<double> out, bool in_alpha = true);
FENCHEL_EXPORT void beta_gaussian_hessian(BetaGaussianFunction function, const BetaGaussianBatch& batch,
                                          Rows<double> out, bool in_alpha = true);

/// The direction of the draw of each seed, an integer below 2^53: a draw is mu + e^log_draw L direction,
/// Sigma = L L^T.
FENCHEL_EXPORT void draw_directions(std::span<const double> seeds, Rows<double> out);

}  // namespace fenchel::cpu
