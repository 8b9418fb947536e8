#include "fenchel/loss/absolute.hpp"

#include <cmath>

#include "core/fenchel_young_term.hpp"

namespace fenchel {

namespace detail {

/// Homogeneous of degree alpha in the densities: in units of the peak p is exp_{2-alpha}(-|t - mu| / spread).
double fenchel_young_term_at(const BetaLaplace& p, double q_t, double p_t, double t) {
  const double peak = std::exp(p.log_peak());
  const double unit =
      fenchel_young_term(p.alpha() - 1, q_t / peak, p_t / peak, -std::abs(t - p.mu()) / p.spread());
  return p.alpha() / 2 * unit / p.b();
}

}  // namespace detail

double fenchel_young_hessian(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  if (std::isinf(p.alpha())) return 0;
  return f.b() * (p.spread() / p.alpha()) / (2 * p.alpha() - 1);
}

}  // namespace fenchel
