#pragma once

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

/// The integral of f over [lower, upper], either end infinite, until the estimated error is at most
/// accuracy * integral of |f|: adaptive 15-point Gauss-Kronrod in the variable of the double exponential
/// transform [H. Takahasi, M. Mori, Publ. RIMS 9 (1974)], so that algebraic singularities at the ends and
/// kinks between them are both resolved. An infinite range is scanned at unit scale about 0 (or about its
/// finite end): shift and scale the integrand to that. A NaN of f makes the value NaN.
[[nodiscard]] FENCHEL_EXPORT Quadrature integrate(FunctionRef<double(double)> f, double lower, double upper,
                                                  double accuracy = 1e-12);

}  // namespace fenchel
