#include <cmath>
#include <vector>

#include "distribution/line/power_integral.hpp"
#include "fenchel/core/check.hpp"
#include "fenchel/predict/function.hpp"

/// Derivatives of the normalizer A, the second for linear families [SCD22, Section 4.2; docs/math.md 2, E15].
namespace fenchel::detail {

namespace {

/// The s of p ~ d^s at a simple zero of f - tau.
double edge_exponent(const Tsallis& omega) { return omega.alpha() > 1 ? 1 / (omega.alpha() - 1) : 0; }

}  // namespace

std::vector<double> normalizer_gradient(const Tsallis& omega, const std::function<double(double)>& f,
                                        Callables slopes, const Interval& domain) {
  checked_finite("normalizer_gradient", "alpha", omega.alpha());
  const NumericDensity p = predict_numeric(omega, f, domain, kNumericAccuracy).density;
  const auto logarithm = [&p](double t) { return log_pdf(p, t); };
  return PowerIntegral(logarithm, p.support(), p.modes(), 2 - omega.alpha(), edge_exponent(omega))
      .means(slopes);
}

Eigen::MatrixXd normalizer_hessian(const Tsallis& omega, const LinearScore& f, const Interval& domain) {
  const double alpha = checked_finite("normalizer_hessian", "alpha", omega.alpha()), am1 = alpha - 1;
  const NumericDensity p = predict_numeric(omega, f, domain, kNumericAccuracy).density;
  const auto logarithm = [&p](double t) { return log_pdf(p, t); };
  const PowerIntegral escort(logarithm, p.support(), p.modes(), 2 - alpha, edge_exponent(omega));
  const PowerIntegral curvature(logarithm, p.support(), p.modes(), 3 - 2 * alpha, edge_exponent(omega));
  const double mass = escort([](double) { return 1.0; });
  const auto size = static_cast<Eigen::Index>(f.phi().size());
  const std::vector<double> mean = escort.means(f.phi());
  const auto centred = [&](Eigen::Index i, double t) {
    const auto k = static_cast<std::size_t>(i);
    return f.phi()[k](t) - mean[k];
  };
  const double factor = std::exp(curvature.log_factor() - escort.log_factor()) / (mass * omega.temperature());
  Eigen::MatrixXd hessian(size, size);
  for (Eigen::Index i = 0; i < size; ++i) {
    for (Eigen::Index j = 0; j <= i; ++j) {
      const auto product = [&](double t) { return centred(i, t) * centred(j, t); };
      // At an end 1 + (3 - 2 alpha) / am1 = (2 - alpha) / am1, so the share of the edge is am1.
      hessian(i, j) = hessian(j, i) = factor * curvature.finite_part(product, 2 - alpha, am1);
    }
  }
  return hessian;
}

}  // namespace fenchel::detail
