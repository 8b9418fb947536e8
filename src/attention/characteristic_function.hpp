#pragma once

#include "fenchel/distribution/line/beta_gaussian.hpp"

namespace fenchel::detail {

/// E cos(frequency (t - mu)) with its derivatives; absolute errors of about 1e-13.
struct CharacteristicFunction {
  double value;
  double log_scale;  ///< derivative in the logarithm of the scale, d / d log frequency
  double alpha;      ///< at fixed mu and sigma2; NaN where quadrature finds it: for alpha > .99
};

/// alpha > 1: Gamma(nu + 1) (2 / k)^nu J_nu(k), nu = 1 / am1 + 1/2, k = frequency half_width; alpha = 1:
/// exp(-frequency^2 sigma2 / 2); alpha < 1: Student's, by its mixture of Gaussians (derived).
[[nodiscard]] CharacteristicFunction characteristic_function(const BetaGaussian& p, double frequency);

}  // namespace fenchel::detail
