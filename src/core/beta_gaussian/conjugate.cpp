#include "core/beta_gaussian/conjugate.hpp"

#include <limits>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/infinity.hpp"
#include "fenchel/core/quadrature.hpp"

namespace fenchel::detail {

double conjugate_alpha_derivative(const BetaGaussianConstants& c) {
  if (std::isinf(c.am1)) return 0;
  const double n = static_cast<double>(c.dimension), alpha = 1 + c.am1;
  const BetaGaussianAlphaDerivatives d = alpha_derivatives(c);
  // v = 2 e^z / (2 + (n + 2) am1).
  const double v_slope = c.variance_factor * (d.log_peak_power - (n + 2) / (2 + (n + 2) * c.am1));
  // dA / dalpha, by e^z = 1 - am1 A where e^z overflows.
  const double normalizer_slope =
      std::isinf(c.peak_power) ? (d.log_peak_power - 1 / c.am1) * c.normalizer - d.log_peak_power / c.am1
                               : d.normalizer;
  return (normalizer_slope - n * (c.variance_factor + c.am1 * v_slope) / 2 - beta_gaussian_conjugate(c)) /
         alpha;
}

double tsallis_negentropy_order_derivative(const BetaGaussianConstants& c, double order) {
  constexpr double kInf = kInfinity;
  if (std::isinf(order)) return 0;
  if (2 * order <= -static_cast<double>(c.dimension) * c.am1) return std::numeric_limits<double>::quiet_NaN();
  // e^fall times the derivative of log_{2-order}(p) / order at log p = l: p^order is kept where p underflows.
  const auto slope = [&](double fall, double l) {
    const double om1 = order - 1, y = om1 * l, p = std::exp(fall);
    if (std::abs(y) <= 1)
      return p * (deformed_log_alpha_derivative<1>(om1, l) - deformed_log_of_exp(om1, l) / order) / order;
    const double power = std::exp(fall + y), mean = (power - p) / y;
    return l * (l * ((power - mean) / y) - mean / order) / order;
  };
  if (std::isinf(c.am1)) return slope(0, c.log_peak);
  // With r^2 = q e^{-z}, log p = log_peak + log1p(-am1 r^2 / 2) / am1.
  const auto mean = [&](FunctionRef<double(double)> g) {
    const auto shell = [&](double r) {
      const double fall = log_deformed_exp(c.am1, -r * r / 2);
      return std::isinf(fall) ? 0.0 : std::pow(r, static_cast<double>(c.dimension - 1)) * g(fall);
    };
    return integrate(shell, 0, c.am1 > 0 ? std::sqrt(2 / c.am1) : kInf, 1e-14).value;
  };
  return mean([&](double fall) { return slope(fall, c.log_peak + fall); }) /
         mean([](double fall) { return std::exp(fall); });
}

}  // namespace fenchel::detail
