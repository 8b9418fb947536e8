#include "fenchel/loss/scaled_gaussian.hpp"

#include <boost/math/quadrature/gauss.hpp>
#include <cmath>
#include <numbers>

#include "distribution/line/bounded_density.hpp"

namespace fenchel {

double detail::mean_scale_derivative(const TruncatedGaussian& p) {
  const TruncatedGaussian q = p.centred();
  return bounded_integral([&q](double x) { return pdf(q, x) * scale_derivative(x / q.sigma()); }, support(q),
                          0);
}

detail::ScaledGaussianMoments detail::scaled_gaussian_moments(const TruncatedGaussian& p) {
  const double z = p.z();
  const auto integral = [z](auto&& f) {  // over |y| < z
    const auto both_halves = [&](double x) { return f(z * (1 + x) / 4) + f(z * (3 + x) / 4); };
    return z / 2 * boost::math::quadrature::gauss<double, 30>::integrate(both_halves);
  };
  // phi and scale_derivative have the means phi(0) - fall and rise over the support.
  const double root = std::sqrt(2 * std::numbers::pi), rise = -std::expm1(-z * z / 2) / root;
  const auto fall_at = [root](double y) { return -std::expm1(-y * y / 2) / root; };
  const double fall = integral(fall_at) / (2 * z);
  const auto excess = [&](double y) { return p.level() * std::expm1((z - y) * (z + y) / 2); };
  return {mean_scale_derivative(p), integral([&](double y) { return excess(y) * scale_curvature(y); }),
          integral([&](double y) { return (fall - fall_at(y)) * (scale_derivative(y) - rise); }),
          integral([&](double y) { return std::pow(scale_derivative(y) - rise, 2); })};
}

}  // namespace fenchel
