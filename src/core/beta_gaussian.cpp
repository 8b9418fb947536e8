#include "fenchel/core/beta_gaussian.hpp"

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel {

double tsallis_negentropy(const BetaGaussianConstants& c, double order) {
  if (std::isinf(order)) return c.log_peak > 0 ? order : 0;
  const double mean_log = c.log_peak + log_power_mass_slope(c.dimension, c.am1, order);
  return deformed_log_of_exp(order - 1, mean_log) / order;
}

BetaGaussianAlphaDerivatives alpha_derivatives(const BetaGaussianConstants& c) {
  const auto n = static_cast<double>(c.dimension);
  const double am1 = c.am1;
  if (std::isinf(am1)) return {0, 0, 0};
  const double slope = log_gamma_ratio_slope(c.dimension, am1), width = 2 + n * am1;
  // log P = -2 ell / width and z = am1 log P, d ell = -slope.
  const double log_peak = (2 * slope - n * c.log_peak) / width;
  const double z = am1 * c.log_peak, dz = c.log_peak + am1 * log_peak;
  // A = -expm1(z) / am1 = -log P * mean of e^{tz} over t in [0, 1].
  const double normalizer = -(log_peak * exp_moment<0>(z) + c.log_peak * dz * exp_moment<1>(z));
  return {normalizer, log_peak, dz};
}

}  // namespace fenchel
