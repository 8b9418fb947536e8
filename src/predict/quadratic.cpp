#include "fenchel/predict/quadratic.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {

BetaGaussian predict(const Tsallis& omega, const QuadraticScore& f, Line) {
  if (!(omega.alpha() > 1. / 3))
    throw_domain_error("predict", "alpha", "must be above 1/3 for a quadratic score on the line",
                       omega.alpha());
  return {omega.alpha(), f.mu(), omega.temperature() * f.sigma2()};
}

}  // namespace fenchel
