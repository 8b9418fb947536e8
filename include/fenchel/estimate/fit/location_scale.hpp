#pragma once

/// `fit_location_scale`: by minimising the loss.

#include <functional>

#include "fenchel/core/config.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/estimate/fit/fit.hpp"
#include "fenchel/estimate/statistics/collect.hpp"

namespace fenchel {

/// The LocationScale of a given g and its derivative with the least mean cross-Omega loss of Tsallis(2) over
/// the data, a pass for each step. The loss is not convex in mu and sigma: a local minimum, from the
/// quartiles of the data. g and g' are called by several threads at once; g'' is taken by differences, and g
/// should be smooth on (0, a).
///
/// Throws as LocationScale does; std::domain_error where g''(0) is not 0 (the loss then has a kink at every
/// value: fit_beta_laplace knows g = t^2/2) and for data of no weight or no variance; ConvergenceError where
/// the minimiser does not converge.
[[nodiscard]] FENCHEL_EXPORT Fit<LocationScale> fit_location_scale(std::function<double(double)> g,
                                                                   std::function<double(double)> slope,
                                                                   const Data& data);

}  // namespace fenchel
