#include "fenchel/predict/scaled_gaussian.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {

TruncatedGaussian predict(const Tsallis& omega, const ScaledGaussianScore& f, Line) {
  if (omega.alpha() != 2)
    throw_domain_error("predict", "alpha",
                       "must be 2 for a ScaledGaussianScore (a FunctionScore takes others)", omega.alpha());
  const double kappa = f.kappa() / omega.temperature();
  if (!(kappa > 1)) throw_domain_error("predict", "kappa / temperature", "must be > 1", kappa);
  return TruncatedGaussian(kappa, f.mu(), f.sigma2());
}

double conjugate(const Tsallis& omega, const ScaledGaussianScore& f, Line domain) {
  const TruncatedGaussian p = predict(omega, f, domain);
  return omega.temperature() * (0.5 + p.threshold() + mean_density(p) / 2);
}

}  // namespace fenchel
