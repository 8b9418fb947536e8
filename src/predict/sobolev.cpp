#include "fenchel/predict/sobolev.hpp"

namespace fenchel {

SmoothParabola predict(const Sobolev& omega, const QuadraticScore& f, Line) {
  return SmoothParabola(omega.gamma(), f.mu(), f.sigma2() * omega.temperature());
}
SmoothTriangular predict(const Sobolev& omega, const AbsoluteScore& f, Line) {
  return SmoothTriangular(omega.gamma(), f.mu(), f.b() * omega.temperature());
}

double conjugate(const Sobolev& omega, const QuadraticScore& f, Line domain) {
  const SmoothParabola p = predict(omega, f, domain);
  return omega.temperature() * (0.5 + (p.threshold() - variance(p) / (2 * p.sigma2())) / 2);
}
double conjugate(const Sobolev& omega, const AbsoluteScore& f, Line domain) {
  const SmoothTriangular p = predict(omega, f, domain);
  return omega.temperature() * (0.5 + (p.threshold() - mean_deviation(p, p.mu()) / p.b()) / 2);
}

double normalizer(const Sobolev& omega, const AbsoluteScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}
AbsoluteGammaGradient normalizer_gradient(const Sobolev& omega, const AbsoluteScore& f, Line domain) {
  const detail::ShapeDerivatives tau =
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives());
  return {0, tau.scale, tau.gamma};
}
Hessian<3> normalizer_hessian(const Sobolev& omega, const AbsoluteScore& f, Line domain) {
  return detail::hessian(
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives()));
}

double normalizer(const Sobolev& omega, const QuadraticScore& f, Line domain) {
  return omega.temperature() * (1 + predict(omega, f, domain).threshold());
}
QuadraticGammaGradient normalizer_gradient(const Sobolev& omega, const QuadraticScore& f, Line domain) {
  const detail::ShapeDerivatives tau =
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives());
  return {0, tau.scale, tau.gamma};
}
Hessian<3> normalizer_hessian(const Sobolev& omega, const QuadraticScore& f, Line domain) {
  return detail::hessian(
      detail::at_temperature(omega.temperature(), predict(omega, f, domain).shape().threshold_derivatives()));
}

}  // namespace fenchel
