#include "fenchel/predict/total_variation.hpp"

namespace fenchel {
namespace {

template <CappedDensity P>
double conjugate_of(const P& p, double temperature) {
  return temperature * (0.5 + (p.threshold() + mean_density(p) / 2));
}

}  // namespace

CappedTriangular predict(const TotalVariation& omega, const AbsoluteScore& f, Line) {
  return CappedTriangular(omega.gamma(), f.mu(), f.b() * omega.temperature());
}
CappedParabola predict(const TotalVariation& omega, const QuadraticScore& f, Line) {
  return CappedParabola(omega.gamma(), f.mu(), f.sigma2() * omega.temperature());
}

double conjugate(const TotalVariation& omega, const AbsoluteScore& f, Line domain) {
  return conjugate_of(predict(omega, f, domain), omega.temperature());
}
double conjugate(const TotalVariation& omega, const QuadraticScore& f, Line domain) {
  return conjugate_of(predict(omega, f, domain), omega.temperature());
}

double normalizer(const TotalVariation& omega, const AbsoluteScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}
AbsoluteGammaGradient normalizer_gradient(const TotalVariation& omega, const AbsoluteScore& f, Line domain) {
  const detail::ShapeDerivatives tau =
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives());
  return {0, tau.scale, tau.gamma};
}
Hessian<3> normalizer_hessian(const TotalVariation& omega, const AbsoluteScore& f, Line domain) {
  return detail::hessian(
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives()));
}

double normalizer(const TotalVariation& omega, const QuadraticScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}
QuadraticGammaGradient normalizer_gradient(const TotalVariation& omega, const QuadraticScore& f,
                                           Line domain) {
  const detail::ShapeDerivatives tau =
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives());
  return {0, tau.scale, tau.gamma};
}
Hessian<3> normalizer_hessian(const TotalVariation& omega, const QuadraticScore& f, Line domain) {
  return detail::hessian(
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives()));
}

}  // namespace fenchel
