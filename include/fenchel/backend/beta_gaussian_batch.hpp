#pragma once

/// `BetaGaussianBatch`: the parameters of many beta-Gaussians, in the memory of the CPU or of a GPU.

#include <span>

#include "fenchel/core/index.hpp"

namespace fenchel {

/// Many beta-Gaussians on R^n, each with its own Sigma and alpha, in the memory of a back end.
struct BetaGaussianBatch {
  index_t dimension = 1;
  std::span<const double> argument = {};  ///< empty for a function without one
  std::span<const double> log_det = {};   ///< log det Sigma
  std::span<const double> alpha = {};     ///< as many
};

}  // namespace fenchel
