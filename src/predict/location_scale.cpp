#include "fenchel/predict/location_scale.hpp"

#include "fenchel/core/error.hpp"

namespace fenchel {

LocationScale predict(const Tsallis& omega, const LocationScaleScore& f, Line) {
  if (omega.alpha() != 2)
    throw_domain_error("predict", "alpha",
                       "must be 2 for a LocationScaleScore (a FunctionScore takes others)", omega.alpha());
  const double temperature = omega.temperature();
  if (temperature == 1) return LocationScale(f);
  return LocationScale(LocationScaleScore([f, temperature](double x) { return f.g(x) / temperature; },
                                          [f, temperature](double x) { return f.slope(x) / temperature; },
                                          f.mu(), f.sigma()));
}

double conjugate(const Tsallis& omega, const LocationScaleScore& f, Line domain) {
  const LocationScale p = predict(omega, f, domain);
  return omega.temperature() * (0.5 + p.threshold() + mean_density(p) / 2);
}

double normalizer(const Tsallis& omega, const LocationScaleScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}

LocationScaleGradient normalizer_gradient(const Tsallis& omega, const LocationScaleScore& f, Line domain) {
  return {0, -omega.temperature() * predict(omega, f, domain).threshold() / f.sigma()};
}

Hessian<2> normalizer_hessian(const Tsallis& omega, const LocationScaleScore& f, Line domain) {
  return {{{0, 0}, {0, -2 * normalizer_gradient(omega, f, domain).sigma / f.sigma()}}};
}

}  // namespace fenchel
