#include "fenchel/predict/integers.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {
namespace {

double checked_alpha(const Tsallis& omega) {
  if (!(omega.alpha() >= 1))
    throw_domain_error("predict", "alpha", "must be at least 1 on the integers", omega.alpha());
  return omega.alpha();
}

}  // namespace

SparsePoisson predict(const Tsallis& omega, const PoissonScore& f, Naturals) {
  return SparsePoisson(checked_alpha(omega), f.mu(), omega.temperature());
}

SparseIntegerGaussian predict(const Tsallis& omega, const QuadraticScore& f, Integers) {
  return SparseIntegerGaussian(checked_alpha(omega), f.mu(), f.sigma2() * omega.temperature());
}

}  // namespace fenchel
