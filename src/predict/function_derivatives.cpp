#include <cmath>

#include "distribution/power_integral.hpp"
#include "fenchel/distribution/beta_covariance.hpp"
#include "fenchel/predict/function.hpp"

/// Derivatives of the normalizer A for linear families [SCD22, Section 4.2; MATH.md 2, E15].
namespace fenchel::detail {

std::vector<double> normalizer_gradient(const Tsallis& omega, const LinearScore& f, const Interval& domain) {
  const NumericDensity p = predict_numeric(omega, f, domain, kNumericAccuracy).density;
  const Eigen::VectorXd mean = escort_means([&p](double t) { return log_pdf(p, t); }, p.support(), p.modes(),
                                            2 - omega.alpha(), f.phi());
  return {mean.begin(), mean.end()};
}

Eigen::MatrixXd normalizer_hessian(const Tsallis& omega, const LinearScore& f, const Interval& domain) {
  const double alpha = omega.alpha(), am1 = alpha - 1;
  const NumericDensity p = predict_numeric(omega, f, domain, kNumericAccuracy).density;
  const auto logarithm = [&p](double t) { return log_pdf(p, t); };
  const double exponent = am1 > 0 ? 1 / am1 : 0;  // p ~ d^{1/am1} at a simple zero
  const PowerIntegral escort(logarithm, p.support(), p.modes(), 2 - alpha, exponent);
  const PowerIntegral curvature(logarithm, p.support(), p.modes(), 3 - 2 * alpha, exponent);
  const double mass = escort([](double) { return 1.0; });
  const auto size = static_cast<Eigen::Index>(f.phi().size());
  const auto phi = [&f](Eigen::Index i, double t) { return f.phi()[static_cast<std::size_t>(i)](t); };
  Eigen::VectorXd mean(size);
  for (Eigen::Index i = 0; i < size; ++i) mean[i] = escort([&](double t) { return phi(i, t); }) / mass;

  const double factor = std::exp(curvature.log_factor() - escort.log_factor()) / (mass * omega.temperature());
  Eigen::MatrixXd hessian(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto product = [&](double t) { return (phi(i, t) - mean[i]) * (phi(j, t) - mean[j]); };
      // At an end 1 + (3 - 2 alpha) / am1 = (2 - alpha) / am1, so the share of the edge is am1.
      hessian(i, j) = hessian(j, i) = factor * curvature.finite_part(product, 2 - alpha, am1);
    }
  }
  return hessian;
}

}  // namespace fenchel::detail
