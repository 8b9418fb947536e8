#include "fenchel/predict/quadratic.hpp"

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

}  // namespace fenchel
