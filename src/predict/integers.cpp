#include "fenchel/predict/integers.hpp"

namespace fenchel {

SparsePoisson predict(const Tsallis& omega, const PoissonScore& f, Naturals) {
  return SparsePoisson(omega.alpha(), f.mu(), omega.temperature());
}

SparseIntegerGaussian predict(const Tsallis& omega, const QuadraticScore& f, Integers) {
  return SparseIntegerGaussian(omega.alpha(), f.mu(), f.sigma2() * omega.temperature());
}

}  // namespace fenchel
