#include "fenchel/predict/absolute.hpp"

#include <cmath>

#include "fenchel/core/deformed.hpp"
#include "fenchel/core/error.hpp"

namespace fenchel {

BetaLaplace predict(const Tsallis& omega, const AbsoluteScore& f, Line) {
  if (!(omega.alpha() > 0.5))
    throw_domain_error("predict", "alpha", "must be above 1/2 for an AbsoluteScore on the line",
                       omega.alpha());
  return BetaLaplace(omega.alpha(), f.mu(), f.b() * omega.temperature());
}

double conjugate(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  const double am1 = p.alpha() - 1, mean_score = -absolute_moment(p, 1) / p.b();
  if (std::isinf(am1)) return omega.temperature() * mean_score;
  return am1 / p.alpha() * (omega.temperature() * mean_score) + normalizer(omega, f, domain) / p.alpha();
}

double normalizer(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  if (std::isinf(p.alpha())) return f(f.mu() + p.half_width());
  return -omega.temperature() * deformed_log_of_exp(p.alpha() - 1, p.log_peak());
}

double normalizer_gradient(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  const BetaLaplace p = predict(omega, f, domain);
  return std::isinf(p.alpha()) ? p.half_width() : p.spread() / p.alpha();
}

double normalizer_hessian(const Tsallis& omega, const AbsoluteScore& f, Line domain) {
  return f.b() * normalizer_gradient(omega, f, domain) / omega.alpha();
}

}  // namespace fenchel
