#include "fenchel/predict/scaled_gaussian.hpp"

#include <cmath>
#include <numbers>

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

double normalizer(const Tsallis& omega, const ScaledGaussianScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}

ScaledGaussianGradient normalizer_gradient(const Tsallis& omega, const ScaledGaussianScore& f, Line domain) {
  const TruncatedGaussian p = predict(omega, f, domain);
  return {std::erf(p.z() / std::numbers::sqrt2) / (2 * p.half_width()), 0,
          -omega.temperature() * p.threshold() / (2 * p.sigma2())};
}

Hessian<3> normalizer_hessian(const Tsallis& omega, const ScaledGaussianScore& f, Line domain) {
  const TruncatedGaussian p = predict(omega, f, domain);
  const ScaledGaussianGradient gradient = normalizer_gradient(omega, f, domain);
  const double kappa = p.kappa() * p.z() * p.z();
  const double square = 1 / (4 * kappa * p.level() * p.sigma()) / kappa / omega.temperature();
  const double mixed = -gradient.kappa / (2 * p.sigma2());
  return {{{square, 0, mixed}, {0, 0, 0}, {mixed, 0, -1.5 * gradient.sigma2 / p.sigma2()}}};
}

}  // namespace fenchel
