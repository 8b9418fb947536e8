#include "core/beta_gaussian/radius.hpp"

#include "core/beta_gaussian/radius_slope.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

double log_radius_alpha_slope(const BetaGaussianConstants& c, double q) {
  constexpr double kAccuracy = 1e-13;
  return radius_slope(c, q, [](FunctionRef<double(double)> f, double lower, double upper) {
    return integrate(f, lower, upper, kAccuracy).value;
  });
}

}  // namespace fenchel::detail
