#include "fenchel/predict/quadratic.hpp"

#include <cmath>

#include "core/beta_gaussian/conjugate.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

BetaGaussian predict(const Tsallis& omega, const QuadraticScore& f, Line) {
  if (!(omega.alpha() > 1. / 3))
    throw_domain_error("predict", "alpha", "must be above 1/3 for a quadratic score on the line",
                       omega.alpha());
  return BetaGaussian(omega.alpha(), f.mu(), omega.temperature() * f.sigma2());
}

double conjugate(const Tsallis& omega, const QuadraticScore& f, Line) {
  return omega.temperature() * detail::beta_gaussian_conjugate(predict(omega, f, Line()).constants());
}

double normalizer(const Tsallis& omega, const QuadraticScore& f, Line) {
  return omega.temperature() * predict(omega, f, Line()).constants().normalizer;
}

std::array<double, 2> normalizer_gradient(const Tsallis& omega, const QuadraticScore& f, Line) {
  const BetaGaussian p = predict(omega, f, Line());
  return {p.mu(), p.mu() * p.mu() + p.sigma2() * escort_moments(p.constants()).q_mean};
}

Hessian<2> normalizer_hessian(const Tsallis& omega, const QuadraticScore& f, Line domain) {
  const BetaGaussian p = predict(omega, f, domain);
  const double am1 = p.constants().am1, sigma2 = f.sigma2(), mixed = 2 * f.mu() * sigma2;
  // the escort's mean of q goes like sigma2^{-am1 / (2 + am1)}
  const double fall = std::isinf(am1) ? 0 : 2 / (2 + am1);
  const double square = 2 * sigma2 * p.sigma2() * escort_moments(p.constants()).q_mean * fall;
  return {{{sigma2, mixed}, {mixed, square + 2 * f.mu() * mixed}}};
}

}  // namespace fenchel
