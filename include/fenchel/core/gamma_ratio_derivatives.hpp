#pragma once

#include "fenchel/core/config.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

/// The first three derivatives in am1 of log_gamma_ratio(n, am1), each to kGammaRatioDerivativeError of
/// itself; 0 at am1 = infinity.
struct GammaRatioDerivatives {
  double first, second, third;
};
[[nodiscard]] FENCHEL_EXPORT GammaRatioDerivatives log_gamma_ratio_derivatives(index_t n, double am1);
inline constexpr double kGammaRatioDerivativeError = 1e-12;

}  // namespace fenchel
