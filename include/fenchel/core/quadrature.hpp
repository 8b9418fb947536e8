#pragma once

/// `integrate` and `integrate_twice`: adaptive quadrature, also to infinity and up to singular ends.

#include "fenchel/core/config.hpp"
#include "fenchel/core/function_ref.hpp"
#include "fenchel/core/index.hpp"

namespace fenchel {

struct Quadrature {
  double value = 0;
  double error = 0;  ///< an estimate of |value - integral|, usually far too large
  double scale = 0;  ///< the integral of |f|
  index_t evaluations = 0;
  bool converged = false;
};

/// The integral of f over [lower, upper], to accuracy * integral of |f| by estimate: adaptive Gauss-Kronrod
/// in the double exponential variable [H. Takahasi, M. Mori, Publ. RIMS 9 (1974)], for singular ends. A kink
/// may hide beside a panel's edge: cut where you know one. An end may be infinite: then bring f to unit scale
/// about 0, or about the other end. A NaN of f makes the value NaN.
[[nodiscard]] FENCHEL_EXPORT Quadrature integrate(FunctionRef<double(double)> f, double lower, double upper,
                                                  double accuracy = 1e-12);

/// The same, refined until a second rule on shifted panels agrees. The error is at least the difference. What
/// is narrower than the distance of nodes, of which there are at least 30 * first_panels, may still be
/// missed: cut there.
[[nodiscard]] FENCHEL_EXPORT Quadrature integrate_twice(FunctionRef<double(double)> f, double lower,
                                                        double upper, double accuracy = 1e-12,
                                                        index_t first_panels = 16);

}  // namespace fenchel
