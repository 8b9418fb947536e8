#include "fenchel/predict/integers.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

/// E_p[f] is finite only above this alpha (docs/math.md 3.3).
double checked_alpha(const Tsallis& omega, double bound, const char* constraint) {
  if (!(omega.alpha() > bound)) throw_domain_error("predict", "alpha", constraint, omega.alpha());
  return omega.alpha();
}

}  // namespace

SparsePoisson predict(const Tsallis& omega, const PoissonScore& f, Naturals) {
  return SparsePoisson(checked_alpha(omega, 0.5, "must be above 1/2 for a Poisson score"), f.mu(),
                       omega.temperature());
}

SparseIntegerGaussian predict(const Tsallis& omega, const QuadraticScore& f, Integers) {
  return SparseIntegerGaussian(
      checked_alpha(omega, 1.0 / 3, "must be above 1/3 for a quadratic score on the integers"), f.mu(),
      f.sigma2() * omega.temperature());
}

}  // namespace fenchel
