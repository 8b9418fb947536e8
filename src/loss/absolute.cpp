#include "fenchel/loss/absolute.hpp"

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/deformed_derivatives.hpp"

namespace fenchel {
namespace {

/// (y / (1 + y) - log1p(y)) / y^2 for y > -1, -1/2 at 0: the series where the difference cancels.
double log1p_quotient_slope(double y) {
  if (std::abs(y) > 0.1) return (y / (1 + y) - std::log1p(y)) / (y * y);
  double sum = 0, power = -1;
  for (int k = 1; k <= 18; ++k, power *= -y) sum += power * k / (k + 1);
  return sum;
}

}  // namespace

double detail::negentropy_alpha_derivative(const BetaLaplace& p) {
  const double alpha = p.alpha(), am1 = alpha - 1;
  if (std::isinf(alpha)) return 0;
  // Omega_order = log_{2-order}(e^m) / order, m = log peak - log1p((order - 1) / alpha) / (order - 1).
  const double mean_log = p.log_peak() - log_deformed_exp(am1, 1 / alpha);
  const double mean_log_slope = -log1p_quotient_slope(am1 / alpha) / (alpha * alpha);
  return (deformed_log_alpha_derivative<1>(am1, mean_log) + std::exp(am1 * mean_log) * mean_log_slope -
          deformed_log_of_exp(am1, mean_log) / alpha) /
         alpha;
}

double fenchel_young_hessian(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  if (std::isinf(p.alpha())) return 0;
  return f.b() * (p.spread() / p.alpha()) / (2 * p.alpha() - 1);
}

}  // namespace fenchel
