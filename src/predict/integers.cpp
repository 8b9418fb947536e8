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
  return {checked_alpha(omega), f.mu(), omega.temperature()};
}

SparsePoisson predict(const Shannon& omega, const PoissonScore& f, Naturals domain) {
  return predict(Tsallis(omega), f, domain);
}

SparseIntegerGaussian predict(const Tsallis& omega, const QuadraticScore& f, Integers) {
  return {checked_alpha(omega), f.mu(), f.sigma2() * omega.temperature()};
}

SparseIntegerGaussian predict(const Shannon& omega, const QuadraticScore& f, Integers domain) {
  return predict(Tsallis(omega), f, domain);
}

}  // namespace fenchel
