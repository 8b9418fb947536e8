#include <cmath>
#include <numbers>

#include "distribution/line/piece_sum.hpp"
#include "fenchel/distribution/line/location_scale.hpp"
#include "fenchel/distribution/line/truncated_gaussian.hpp"

/// Where p = [f - tau]_+ a parameter moves p by df less the mean of df over the support (docs/math.md 2.6 at
/// alpha = 2).
namespace fenchel::detail {
namespace {

/// int weight(side, y) psi over the support, y the distance from mu in half widths.
template <class Weight>
double weighed(FunctionRef<double(double)> psi, double mu, double half_width, double accuracy,
               std::span<const double> cuts, const Weight& weight) {
  PieceSum sum(psi, mu, accuracy, cuts);
  for (const double side : {-1.0, 1.0})
    sum.add(0, side * half_width, [&](double y) { return half_width * weight(side, y); });
  return sum.value();
}

}  // namespace

/// dp/dkappa = (p - U) / kappa with U uniform, dp/dmu = f (t - mu) / sigma2, and dp/dsigma2 is a multiple of
/// phi (y^2 - 1) + phi(z), whose mean over |y| < z is 0.
ScaledGaussianGradient expectation_gradient(const TruncatedGaussian& p, FunctionRef<double(double)> psi,
                                            double accuracy, std::span<const double> cuts) {
  const double z = p.z(), width = p.half_width(), sigma2 = p.sigma2(), tau = p.threshold();
  const auto excess = [&](double y) { return tau * std::expm1(z * z * (1 - y) * (1 + y) / 2); };
  const auto integral = [&](const auto& weight) {
    return weighed(psi, p.mu(), width, accuracy, cuts, weight);
  };
  const double kappa = integral([&](double, double y) { return (excess(y) - 0.5 / width) / p.kappa(); });
  const double mu =
      integral([&](double side, double y) { return side * y * width * (excess(y) + tau) / sigma2; });
  const double mean = -std::expm1(-z * z / 2) / std::sqrt(2 * std::numbers::pi);
  const double factor = p.kappa() / (2 * sigma2 * p.sigma());
  const double scale = integral([&](double, double y) { return factor * (scale_derivative(z * y) - mean); });
  return {kappa, mu, scale};
}

/// dp/dmu = sign(t - mu) g''(y) / sigma^2 and dp/dsigma = (y g''(y) / sigma - p) / sigma.
LocationScaleGradient expectation_gradient(const LocationScale& p, FunctionRef<double(double)> psi,
                                           double accuracy, std::span<const double> cuts) {
  const double a = p.a(), width = p.half_width(), sigma = p.sigma();
  const LocationScaleScore& f = p.score();
  const double mu = weighed(psi, p.mu(), width, accuracy, cuts, [&](double side, double y) {
    return side * curvature(f, a * y, a) / (sigma * sigma);
  });
  const double scale = weighed(psi, p.mu(), width, accuracy, cuts, [&](double, double y) {
    return (a * y * curvature(f, a * y, a) - (p.edge_slope() - f.slope(a * y))) / (sigma * sigma);
  });
  return {mu, scale};
}

double curvature(const LocationScaleScore& f, double y, double unit) {
  constexpr double kBeyond = 1e300;  // so that means of both signs are numbers
  const double step = 2e-3 * unit;
  const auto at = [&](double k) { return f.slope(y + k * step); };
  if (std::isinf(at(y < 3 * step ? 6 : 3))) return kBeyond;
  if (y < 3 * step)
    return (-49. / 20 * at(0) + 6 * at(1) - 15. / 2 * at(2) + 20. / 3 * at(3) - 15. / 4 * at(4) +
            6. / 5 * at(5) - at(6) / 6) /
           step;
  return (3. / 4 * (at(1) - at(-1)) - 3. / 20 * (at(2) - at(-2)) + (at(3) - at(-3)) / 60) / step;
}

double curvature_slope(const LocationScaleScore& f, double y, double unit) {
  const double step = 1e-2 * unit, middle = f.slope(y);
  const auto rise = [&](double k) { return f.slope(y + k * step) - middle; };
  if (y < 3 * step)
    return (-223. / 10 * rise(1) + 879. / 20 * rise(2) - 949. / 18 * rise(3) + 41 * rise(4) -
            201. / 10 * rise(5) + 1019. / 180 * rise(6) - 7. / 10 * rise(7)) /
           (step * step);
  return (3. / 2 * (rise(1) + rise(-1)) - 3. / 20 * (rise(2) + rise(-2)) + (rise(3) + rise(-3)) / 90) /
         (step * step);
}

}  // namespace fenchel::detail
